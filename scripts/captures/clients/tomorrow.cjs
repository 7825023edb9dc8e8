// Loaded before a client, it is a day later: only what the client itself reads of the clock changes.
const Now = Date;
const day = 24 * 60 * 60 * 1000;
globalThis.Date = class Date extends Now {
    constructor(...words) {
        words.length === 0 ? super(Now.now() + day) : super(...words);
    }
    static now() {
        return Now.now() + day;
    }
};
