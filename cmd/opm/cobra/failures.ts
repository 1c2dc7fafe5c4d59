/** Ends the program with exit code 1 and no message: the command has printed it already. */
export class SilentFailure extends Error {}

/** Ends the program with exit code 1, and prints only its message, without the usage. */
export class FatalLine extends Error {}
