use proptest::prelude::*;

use super::*;

fn check(line: &str, acts: bool, deeds: &[(Deed, &str)]) {
    let command = Command::read(line);
    let found: Vec<(Deed, &str)> =
        command.deeds.iter().map(|(deed, path)| (*deed, path.as_str())).collect();
    assert_eq!((command.acts, found.as_slice()), (acts, deeds), "{line}");
}

#[test]
fn commands_tell_their_files() {
    check("cat src/a.rs | head -20", false, &[(Deed::Read, "src/a.rs")]);
    check("sed -n '1,20p' \"/x y/b.rs\"", false, &[]);
    check("sed -n '1,20p' /x/b.rs", false, &[(Deed::Read, "/x/b.rs")]);
    check("sed -i '' 's/a/b/g' src/a.rs", true, &[(Deed::Edit, "src/a.rs")]);
    check("cd pkg && grep -n 'foo bar' src/a.ts", false, &[(Deed::Search, "pkg/src/a.ts")]);
    check(
        "rm -f a.txt && mv b.txt c.txt",
        true,
        &[(Deed::Delete, "a.txt"), (Deed::Delete, "b.txt"), (Deed::Write, "c.txt")],
    );
    check("npm run build > out.log 2>&1", true, &[(Deed::Write, "out.log")]);
    check("ls -la 2>/dev/null", false, &[]);
    check("cat disk.iso > /dev/sda", true, &[(Deed::Read, "disk.iso")]);
    check("date --set=12:00", true, &[]);
    check("tree -L 2", false, &[]);
    check("tree -o all.txt", true, &[]);
    check("git branch --unset-upstream", true, &[]);
    check("FOO=1 sudo cargo test", true, &[]);
    check("git status", false, &[]);
    for line in [
        "kubectl get deploy -n shop",
        "kubectl -n shop get pods -o wide",
        "kubectl rollout status deploy/web",
        "gh pr view 7",
        "docker compose logs web",
        "aws ec2 describe-instances",
        "systemctl status nginx",
        "npm ls",
    ] {
        check(line, false, &[]);
    }
    for line in [
        "kubectl delete pod get",
        "docker volume rm logs",
        "docker rm -f status",
        "docker compose up -d search",
        "npm unpublish show",
        "git branch -D show",
        "git branch | grep -v main | xargs git branch -d",
        "kubectl rollout restart deploy/web",
        "kubectl exec web -- ls",
        "docker run ubuntu ls",
        "docker",
        "gh pr merge 7",
        "gh api repos/a/b",
        "aws s3 cp a s3://b/list",
        "npm run list",
        "npm version patch",
        "docker -l info rm web",
        "aws s3api get-object --bucket b --key k out.txt",
        "npm install tree",
        "cargo install tree",
        "go get example.com/a",
        "kubectl get pods; make",
    ] {
        check(line, true, &[]);
    }
    check("git commit -m 'x'", true, &[]);
    check("cat > x.py << 'EOF'\nrm y.py\nEOF", true, &[(Deed::Write, "x.py")]);
    check("cat a.json | python3 -m json.tool | head", false, &[(Deed::Read, "a.json")]);
    check("python3 -m json.tool a.json b.json", true, &[]);
    for line in ["find . -name '*.tmp' -delete", "find b -type f -exec rm {} +", "sort -o a a"] {
        check(line, true, &[]);
    }
    for line in ["git branch -D feature", "git remote add x y"] {
        check(line, true, &[]);
    }
    for line in ["find . -exec grep x {} +", "git branch -a", "git remote -v", "sort"] {
        check(line, false, &[]);
    }
    for line in [
        "sort -uo a a",
        "echo $(rm -rf b)",
        "echo \"`rm -rf b`\"",
        "grep x \"$(make (a))\"",
        "echo $((1 << 3))\nrm -rf b",
        "awk '{ print > \"b\" }'",
        "awk '{ system(\"b\") }'",
        "xxd -r a b",
        "uniq a b",
        "git diff --output=b",
    ] {
        check(line, true, &[]);
    }
    for line in
        ["awk '$3 > 5 { print $1 }'", "echo \"$(date)\" `pwd`", "echo $((1 << 3))", "uniq -c a"]
    {
        check(line, false, &[]);
    }
    for line in ["sed -Ei s/a/b/ a.rs", "sed -ri.bak s/a/b/ a.rs"] {
        check(line, true, &[(Deed::Edit, "a.rs")]);
    }
    for line in ["ls 1> out.txt", "ls >& out.txt", "ls &> out.txt", "ls >| out.txt"] {
        check(line, true, &[(Deed::Write, "out.txt")]);
    }
    let long = format!("echo {}; rm b", "a".repeat(3000));
    assert!(Command::read(&long).acts);
    check("echo done", false, &[]);
    check("", false, &[]);
}

#[test]
fn a_document_stands_behind_what_is_done_with_it() {
    let written = [(Deed::Write, "cfg/b.toml")];
    check("cat <<EOF > cfg/b.toml\na=1\nEOF", true, &written);
    check("cat <<-'EOF' >cfg/b.toml\nrm x.rs\n", true, &written);
    check(
        "cat <<'EOF' > cfg/b.toml\n> x.md\nEOF\nrm a.txt",
        true,
        &[written[0], (Deed::Delete, "a.txt")],
    );
    check("python3 - <<\"PY\"\nopen('x.py') > y.py\nPY\n", true, &[]);
    check("echo $((1 << 3)) | cat <<< a.txt > b.txt", true, &[(Deed::Write, "b.txt")]);
    check("# cat > x.py\nls", false, &[]);
}

#[test]
fn what_changes_files_is_told() {
    check(
        "git mv src/a.rs src/b.rs",
        true,
        &[(Deed::Delete, "src/a.rs"), (Deed::Write, "src/b.rs")],
    );
    check("git rm -f src/gone.rs", true, &[(Deed::Delete, "src/gone.rs")]);
    check("git rm --cached .env.local", true, &[]);
    check("git -C x rm y.rs", true, &[]);
    check("bash -c 'echo hi > inner.txt'", true, &[(Deed::Write, "inner.txt")]);
    check(
        "cd a && sh -lc \"cd b; cat x.rs\"; cat y.rs",
        false,
        &[(Deed::Read, "a/b/x.rs"), (Deed::Read, "a/y.rs")],
    );
    check("bash build.sh", true, &[]);
    check("cp -r a/x.rs b/", true, &[(Deed::Read, "a/x.rs"), (Deed::Write, "b/x.rs")]);
    check("cp -r src/lib b/", true, &[(Deed::Read, "src/lib")]);
    check("mv -t b/ a.rs", true, &[]);
    check("perl -pi -e 's/a.b/c/g' a.rs b.rs", true, &[(Deed::Edit, "a.rs"), (Deed::Edit, "b.rs")]);
    check("perl -i -0pe s/a/b/ a.rs", true, &[(Deed::Edit, "a.rs")]);
    check("perl -ne 'print' a.rs", true, &[]);
    check("sed -i -e s/a.b/c/g -e s/d/e.f/g a.rs", true, &[(Deed::Edit, "a.rs")]);
    check("truncate -s 0 app.log", true, &[(Deed::Edit, "app.log")]);
    check("curl -fsSLo b.tgz https://x.org/b.tgz", true, &[(Deed::Write, "b.tgz")]);
    check("curl -H 'x: o' https://x.org/b.tgz -O", true, &[]);
    check("curl -s https://x.org -o /dev/null", true, &[]);
    check("wget -qO b.tgz https://x.org/b.tgz", true, &[(Deed::Write, "b.tgz")]);
    check("wget -O- https://x.org/b.tgz", true, &[]);
    check("ln -s ../a.rs b.rs", true, &[(Deed::Write, "b.rs")]);
    check("echo a >> notes.md", true, &[(Deed::Edit, "notes.md")]);
    check("ls | tee -a log.txt", true, &[(Deed::Edit, "log.txt")]);
    check("cat a.rs 2> err.log", true, &[(Deed::Write, "err.log"), (Deed::Read, "a.rs")]);
    check("echo a > $OUT/b.txt; rm *.rs", true, &[]);
}

#[test]
fn what_may_change_something_is_no_look() {
    for line in [
        // Variables that may make programs do other things.
        "LD_PRELOAD=./x.so ls",
        "PAGER=./x git log",
        "PATH=bin:$PATH; ls",
        "env BASH_ENV=x bash -c ls",
        // Programs of that name that stand elsewhere, or write besides.
        "./test",
        "bin/diff a b",
        "nohup ls",
        "date 010112002026",
        "env rm b",
        // Flags.
        "myctl db query \"DELETE FROM a\"",
        "admin list drop a",
        "mkdir logs",
        "dropdb info",
        "rsync logs prod:/srv/",
        "sort --out=a a",
        "sort --compress-program=./x a",
        "rg --pre ./x a",
        "git grep -O./x a",
        "git diff --ext-diff",
        "date --s 12:00",
        "less --log-file=b a",
        "find . -fls b",
        "find . -exec grep x {} + -exec rm {} +",
        // Scripts.
        "sed 'w b' a",
        "sed -n '1e date' a",
        "sed -ne 'p;w b' a",
        "sed --expression='w b' a",
        "sed a -e 'w b'",
        "sed -f x a",
        "sed 's/[/]/x/w a/b' a",
        "sed 's|a|b|w c' a",
        "sed '\\,a,w b' a",
        "awk 'BEGIN { \"rm b\" | getline }'",
        "awk -f x a",
        "gawk -i inplace '{ print }' a",
        // What runs inside of a word, a document or arithmetic.
        "echo $(( $(rm -rf b | wc -l) ))",
        "((rm b); ls)",
        "echo \"$(echo ')'; rm b)\"",
        "cat <<EOF\n$(rm b)\nEOF",
        "cat <<\"E F\"\na\nE F\nrm b",
        "echo 'a",
        "echo a > /dev/ttyUSB0",
        "ls > $(pwd)",
    ] {
        assert!(Command::read(line).acts, "{line}");
    }
    for line in [
        "LC_ALL=C sort a",
        "GIT_PAGER=cat git log",
        "COLUMNS=200 NO_COLOR= ls",
        "dir=src; ls $dir",
        "promtool query instant http://prom:9090 up",
        "virsh list --all",
        "/usr/bin/grep x a",
        "command -v cargo",
        "git --no-pager log --oneline --stat",
        "git diff --exit-code --color",
        "grep --include='*.rs' --only-matching -rn --color x src",
        "date -u +%F",
        "sed -n '1,20p' src/new.rs",
        "sed -n '/start/,/end/p' README.md",
        "sed -E 's/we/ew/g; s|[/]|e|' web.md",
        "sed -n -e 5p -e '7,9p' where.txt",
        "awk -F: '$1 == 3 || $2 { print $1 }' a",
        "find . -name write -exec grep x {} + -exec cat {} +",
        "echo \"$(echo ')')\"",
        "cat <<'EOF'\n$(rm b)\nEOF",
        "ls 2> /dev/stderr",
    ] {
        assert!(!Command::read(line).acts, "{line}");
    }
}

proptest! {
    #[test]
    fn any_line_can_be_read(line: String) {
        let _ = Command::read(&line);
    }
}
