import { WaitingError } from '../errors.ts';

/** Content that was stored, is not any more, and is on its way back: nothing is wrong with it. */
export class LostContentError extends WaitingError {}
