import type { Reason } from './reason.ts';

/** A variable that is selected, or (its opposite) one that is not. */
export class Literal {
  readonly id: string;
  readonly opposite: Literal;
  isTrue = false;
  /** The number of decisions that it depends on; of a true literal, as are position and reason. */
  level = 0;
  /** In the trail. */
  position = 0;
  /** Undefined for a decision. */
  reason: Reason | undefined;
  /** Reasons that have to be looked at when the literal becomes true. */
  watchers: Reason[] = [];

  constructor(id: string, opposite?: Literal) {
    this.id = id;
    this.opposite = opposite ?? new Literal(id, this);
  }

  get isOpen(): boolean {
    return !this.isTrue && !this.opposite.isTrue;
  }
}
