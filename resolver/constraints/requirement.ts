import type { Property } from '../candidates/index.ts';
import type { Version } from '../versions/index.ts';

/** A bundle that may meet a requirement: what catalogs and installed operators both have. */
export interface Candidate {
  readonly packageName: string;
  /** Undefined if it has no valid version. */
  readonly version: Version | undefined;
  /** In their order, duplicates included. */
  readonly properties: readonly Property[];
}

/** What a bundle needs of one other bundle, or of itself. */
export interface Requirement {
  /** Of the property, for example `olm.gvk.required`. */
  readonly type: string;
  /** OLM's words after "requires an operator ". */
  readonly text: string;
  /** The author's message of an olm.constraint; part of `text` for a CEL expression alone. */
  readonly failureMessage?: string;
  /** Whether one bundle alone meets the whole requirement. */
  readonly isMetBy: (candidate: Candidate) => boolean;
  /**
   * One sentence when an expression is too expensive for this candidate's properties; such a
   * candidate does not meet the requirement. Undefined otherwise.
   */
  readonly refusal: (candidate: Candidate) => string | undefined;
}

/** Characters of a message: OLM's repeat an invalid text of any length up to three times. */
const longestMessage = 8_192;

/** A constraint property is invalid; the message is OLM's where OLM has one, cut if it is long. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError';

  constructor(message: string, options?: ErrorOptions) {
    const isLong = message.length > longestMessage;
    super(isLong ? `${message.slice(0, longestMessage - 1)}…` : message, options);
  }
}

/** An expression is too expensive for a candidate, or cannot be compiled within its limits. */
export class RuleRefusedError extends Error {
  override readonly name = 'RuleRefusedError';
}
