/** Order within a creator's fair share: lower numbers first. */
export const precedence = {
  /** For objects that are installed: a change of health, a deletion, a repair. */
  urgent: 0,
  /** For objects whose content is available. */
  ready: 1,
  /** For objects with all work still to do. */
  first: 2,
} as const;

export type Precedence = (typeof precedence)[keyof typeof precedence];

/** The creator and precedence of a waiting item. */
export interface Claim {
  readonly creator: string;
  readonly precedence?: Precedence;
  /** Address of the item's server, when places per server are limited. */
  readonly address?: string;
}

export function precedenceOf(claim: Claim): Precedence {
  return claim.precedence ?? precedence.ready;
}

export interface Entry {
  readonly claim: Claim;
  readonly arrival: number;
}

/** Items of one creator with the same precedence and address, in the order of arrival. */
export interface Bucket<T> {
  readonly precedence: Precedence;
  readonly address: string | undefined;
  readonly items: Map<T, Entry>;
}

export interface Line<T> {
  readonly creator: string;
  readonly buckets: Map<string, Bucket<T>>;
  held: number;
  /** Those of them that are urgent. */
  heldUrgent: number;
  /** The turn at which it was last served, or arrived. */
  servedAt: number;
}

export interface Choice<T> {
  readonly line: Line<T>;
  readonly bucket: Bucket<T>;
}

/** Whether a bucket goes before another one of its creator; with `oldest`, whatever its precedence. */
export function isBefore<T>(a: Bucket<T>, b: Bucket<T>, oldest: boolean): boolean {
  if (!oldest && a.precedence !== b.precedence) return a.precedence < b.precedence;
  return arrivalOf(a) < arrivalOf(b);
}

function arrivalOf<T>({ items }: Bucket<T>): number {
  for (const { arrival } of items.values()) return arrival;
  return Number.POSITIVE_INFINITY;
}

/** Whether a creator's bucket goes before that of another one. */
export function goesBefore<T>(
  a: Choice<T>,
  b: Choice<T>,
  { share, isOldestTurn }: { readonly share: number; readonly isOldestTurn: boolean },
): boolean {
  const [hasShare, otherHasShare] = [a.line.held >= share, b.line.held >= share];
  if (hasShare !== otherHasShare) return otherHasShare;
  if (!isOldestTurn) {
    if (a.bucket.precedence !== b.bucket.precedence) {
      return a.bucket.precedence < b.bucket.precedence;
    }
    if (a.line.held !== b.line.held) return a.line.held < b.line.held;
  }
  if (a.line.servedAt !== b.line.servedAt) return a.line.servedAt < b.line.servedAt;
  return arrivalOf(a.bucket) < arrivalOf(b.bucket);
}
