/** The contact that the tests erase, and somebody else. */
export const NAME = "Zephyrine Quackenbush";
export const EMAIL = "Zephyrine.Q@Quäckenbush.example";
export const PHONE = "+43 1 78901234";
/** Words that are nowhere else. */
export const TRACES = /zephyrin|quackenbush|quäckenbush|xn--quckenbush|78901234/i;
/** Somebody else, whose name and address contain the first ones'. */
export const OTHER = { name: 'Ada "\\Zip" Byron', email: "ada@zebra.example" };
/** Hashes of speech, a film and a card about the contact, and of a file about something else. */
export const FILES = ["a", "b", "c", "d"].map((digit) => digit.repeat(64));
