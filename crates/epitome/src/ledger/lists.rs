//! The lists of words that a language's file has, and what each is for.

macro_rules! lists {
    ($($(#[$doc:meta])* $list:ident = $name:literal,)*) => {
        /// A list of words.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum List {
            $($(#[$doc])* $list,)*
            /// Words too common to tell texts apart, which no file lists.
            Common,
        }

        impl List {
            /// Those that a file has.
            pub(super) const ALL: &[Self] = &[$(Self::$list),*];

            /// What its section is called.
            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$list => $name,)*
                    Self::Common => "",
                }
            }
        }
    };
}

lists! {
    /// What a command begins with.
    Commands = "commands",
    /// Numbers, days and months, in letters.
    Numbers = "numbers",
    /// Words that tell things of one shape apart.
    Contrasts = "contrasts",
    /// Words that say nothing of a subject.
    Empty = "empty",
    /// What stands for somebody or something.
    Pronouns = "pronouns",
    /// `note`, `warning`: what stands before a colon and is no label.
    Notices = "notices",
    /// Words of change that often mean none.
    Hints = "hints",
    /// What is said before a command.
    Polite = "polite",
    /// Nouns for kinds of things, of which there are many: port, owner, limit.
    Generic = "generic",
    /// What a message of one or two words says that says next to nothing.
    Terse = "terse",
    /// What stands before a noun and tells no two things apart.
    Determiners = "determiners",
    /// Things that a number behind them tells apart.
    Numbered = "numbered",
    /// What says that something is so, besides.
    Besides = "besides",
    /// What says by when, or if what, something would be so.
    Conditions = "conditions",
    /// What says that something isn't to be, or isn't.
    Negations = "negations",
    /// Verbs, besides those of rules, that say that something becomes otherwise.
    Turns = "turns",
    /// What takes back a demand, and no prohibition.
    Needs = "needs",
    /// Who does something, or whose it is.
    Persons = "persons",
    /// What somebody says who sets a value, or means another one.
    Setting = "setting",
    /// What only says when, or how surely: two sentences may differ by it and be about one thing.
    Fillers = "fillers",
    /// Verbs behind which a sentence says what its subject is.
    Predicates = "predicates",
    /// What a sentence begins with that speaks of the one before it.
    Pointers = "pointers",
    /// Commands that give a value.
    Gives = "gives",
    /// Words that say by themselves that something is finished.
    Finished = "finished",
    /// Words before what somebody did, or what was done.
    Helps = "helps",
    /// Words with which nothing is settled: it isn't so, not wholly, not surely, not yet, or only under a condition.
    Denies = "denies",
    /// What may be absent where something is finished: `no errors`, `0 failed`.
    Faults = "faults",
    /// What says that it is.
    Absent = "absent",
    /// Words behind which it is said when something happens, not that it did.
    Happens = "happens",
    /// Small words of other languages, that this one has not.
    Foreign = "foreign",
    /// Verbs that begin a report of what somebody found.
    Looked = "looked",
    /// Behind `no`: a run that found nothing.
    FoundNone = "found-none",
    /// Words beside what is said to have been done.
    Reports = "reports",
    /// What says that something was done where it begins or ends a sentence.
    DoneAlone = "done-alone",
    /// What a question begins with.
    AskFirst = "ask-first",
    /// What is among the first words of a question that a value answers.
    Wants = "wants",
    /// What is among the first words of a sentence without a question mark that a value answers.
    Requests = "requests",
    /// What only one can do, or be.
    Alone = "alone",
    /// What says anywhere in it that one of several is to be chosen.
    Offers = "offers",
    /// Who is asked, or asks: such a question is none that stays open.
    Readers = "readers",
    /// What a sentence doesn't end with.
    OpenEnds = "open-ends",
    /// What makes a whole of them: `once the order is in`.
    Closed = "closed",
    /// What a sentence that a tool prints doesn't begin with, unless its beginning is missing.
    Continues = "continues",
    /// Prepositions behind which a topic is named, not a value.
    About = "about",
    /// Words at which a topic behind one of these ends.
    NameEnds = "name-ends",
    /// What stands before a noun.
    Articles = "articles",
    /// Verbs of `set X to Y`.
    SetsTo = "sets-to",
    /// Verbs of `put X in Y`.
    PutsIn = "puts-in",
    /// Months, as short as measures.
    Months = "months",
    /// Words that make a sentence of others: verbs that are used with others, and some that state.
    Verbs = "verbs",
    /// Who speaks for more than himself, or for whom.
    Many = "many",
    /// What a sentence begins with that needs the one before it.
    Leaning = "leaning",
    /// Words at which ends what holds no longer.
    GoneEnds = "gone-ends",
    /// Labels that say what kind of statement follows, not of what a value is.
    Kinds = "kinds",
    /// What ends as what goes on does, and says nothing of it.
    OngoingNot = "ongoing-not",
    /// What ends as the past does, and says of nothing that it was done.
    PastNot = "past-not",
    /// Behind the first word: it is no report, but says how something is.
    NotDone = "not-done",
}

impl List {
    /// Its bit among those of a word.
    pub(super) const fn bit(self) -> u64 {
        1 << self as u8
    }
}

/// A word has a bit for each.
const _: () = assert!((List::Common as u32) < u64::BITS);
