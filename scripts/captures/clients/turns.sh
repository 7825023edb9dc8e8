# What the agents are asked: in two turns that mend something, or, with `later`, in two turns of talk between which the
# repository changes. Callers define `first` and `second`, which ask in a new session and in that same one.
if [ "$1" = later ]; then
    first "Hello. We work on this repository from now on."
    echo "- Names of items are in lower case." | tee -a AGENTS.md >> GEMINI.md
    echo '"""What to order."""' > stock/order.py
    second "Which files may you not touch?"
else
    first "The tests of this repository fail. Find out why, mend it, and say what you changed."
    second "Good. Now add a test for an item on three shelves."
fi
