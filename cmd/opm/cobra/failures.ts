/** Ends the program with 1: what is to be said has been printed. */
export class SilentFailure extends Error {}

/** Ends the program with 1, and prints its message as it is, without the usage. */
export class FatalLine extends Error {}
