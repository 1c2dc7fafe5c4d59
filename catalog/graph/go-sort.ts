/** Whether a value comes before another. */
type Less<T> = (a: T, b: T) => boolean;

/**
 * The sorted values, with equal ones in the order of Go's `sort.Slice`: opm sorts entries by
 * version and channels by name that way, and its outputs show it. The sort of up to twelve values
 * is stable; more go step by step through the pattern-defeating quicksort of Go's package `sort`
 * (BSD licence).
 */
export function goSorted<T>(values: readonly T[], less: Less<T>): readonly T[] {
  const sorting = new Sorting([...values], less);
  sorting.sort(0, values.length, bitLength(values.length));
  return sorting.items;
}

const longestInsertion = 12;
const shortestNinther = 50;
const mostSwaps = 12;

type Hint = 'increasing' | 'decreasing' | 'unknown';

class Sorting<T> {
  readonly items: T[];
  readonly #lessValue: Less<T>;
  /** Number of swaps in the choice of a pivot. */
  #swaps = 0;

  constructor(items: T[], less: Less<T>) {
    this.items = items;
    this.#lessValue = less;
  }

  /** After `limit` bad pivots, sorts the rest with heapsort. */
  sort(from: number, to: number, limit: number): void {
    let [a, b, left] = [from, to, limit];
    let [isBalanced, isPartitioned] = [true, true];
    while (b - a > longestInsertion) {
      if (left === 0) return this.#heapSort(a, b);
      if (!isBalanced) {
        this.#breakPatterns(a, b);
        left -= 1;
      }
      const { pivot, hint } = this.#increasing(a, b, this.#choosePivot(a, b));
      const wasGood = isBalanced && isPartitioned;
      if (wasGood && this.#isSorted(a, b, hint)) return;
      if (a > 0 && !this.#less(a - 1, pivot)) {
        a = this.#partitionEqual(a, b, pivot);
        continue;
      }
      const { middle, wasPartitioned } = this.#partition(a, b, pivot);
      isPartitioned = wasPartitioned;
      isBalanced = Math.min(middle - a, b - middle) >= Math.trunc((b - a) / 8);
      if (middle - a < b - middle) {
        this.sort(a, middle, left);
        a = middle + 1;
      } else {
        this.sort(middle + 1, b, left);
        b = middle;
      }
    }
    this.#insertionSort(a, b);
  }

  #less(a: number, b: number): boolean {
    return this.#lessValue(this.items[a] as T, this.items[b] as T);
  }

  #swap(a: number, b: number): void {
    const { items } = this;
    [items[a], items[b]] = [items[b] as T, items[a] as T];
  }

  #insertionSort(a: number, b: number): void {
    for (let i = a + 1; i < b; i += 1) {
      for (let j = i; j > a && this.#less(j, j - 1); j -= 1) this.#swap(j, j - 1);
    }
  }

  #heapSort(a: number, b: number): void {
    const size = b - a;
    for (let i = Math.trunc((size - 1) / 2); i >= 0; i -= 1) this.#siftDown(i, size, a);
    for (let i = size - 1; i >= 0; i -= 1) {
      this.#swap(a, a + i);
      this.#siftDown(0, i, a);
    }
  }

  #siftDown(low: number, high: number, first: number): void {
    let root = low;
    for (let child = 2 * root + 1; child < high; child = 2 * root + 1) {
      if (child + 1 < high && this.#less(first + child, first + child + 1)) child += 1;
      if (!this.#less(first + root, first + child)) return;
      this.#swap(first + root, first + child);
      root = child;
    }
  }

  /** Moves values before the pivot to its left, all others to its right. */
  #partition(a: number, b: number, pivot: number): { middle: number; wasPartitioned: boolean } {
    this.#swap(a, pivot);
    let [i, j] = this.#approach(a, a + 1, b - 1);
    const wasPartitioned = i > j;
    while (i <= j) {
      this.#swap(i, j);
      [i, j] = this.#approach(a, i + 1, j - 1);
    }
    this.#swap(j, a);
    return { middle: j, wasPartitioned };
  }

  #approach(pivot: number, low: number, high: number): [number, number] {
    let [i, j] = [low, high];
    while (i <= j && this.#less(i, pivot)) i += 1;
    while (i <= j && !this.#less(j, pivot)) j -= 1;
    return [i, j];
  }

  /** Moves values equal to the pivot to the front. No value may be before the pivot. */
  #partitionEqual(a: number, b: number, pivot: number): number {
    this.#swap(a, pivot);
    let [i, j] = [a + 1, b - 1];
    for (;;) {
      while (i <= j && !this.#less(a, i)) i += 1;
      while (i <= j && this.#less(a, j)) j -= 1;
      if (i > j) return i;
      this.#swap(i, j);
      i += 1;
      j -= 1;
    }
  }

  /** Whether a few swaps have sorted values that seem to be in order. */
  #isSorted(a: number, b: number, hint: Hint): boolean {
    if (hint !== 'increasing') return false;
    let i = a + 1;
    for (let step = 0; step < 5; step += 1) {
      while (i < b && !this.#less(i, i - 1)) i += 1;
      if (i === b) return true;
      if (b - a < shortestNinther) return false;
      this.#swap(i, i - 1);
      if (i - a >= 2) this.#sink(i - 1);
      this.#rise(i + 1, b);
    }
    return false;
  }

  #sink(from: number): void {
    for (let j = from; j >= 1 && this.#less(j, j - 1); j -= 1) this.#swap(j, j - 1);
  }

  #rise(from: number, to: number): void {
    for (let j = from; j < to && this.#less(j, j - 1); j += 1) this.#swap(j, j - 1);
  }

  #breakPatterns(a: number, b: number): void {
    const length = b - a;
    const next = xorshift(BigInt(length));
    const mask = (1n << BigInt(bitLength(length))) - 1n;
    const middle = a + Math.trunc(length / 4) * 2;
    for (let index = middle - 1; index <= middle + 1; index += 1) {
      const other = Number(next() & mask);
      this.#swap(index, a + (other >= length ? other - length : other));
    }
  }

  #choosePivot(a: number, b: number): { pivot: number; hint: Hint } {
    const quarter = Math.trunc((b - a) / 4);
    let [i, j, k] = [a + quarter, a + quarter * 2, a + quarter * 3];
    this.#swaps = 0;
    if (b - a >= shortestNinther) {
      i = this.#median(i - 1, i, i + 1);
      j = this.#median(j - 1, j, j + 1);
      k = this.#median(k - 1, k, k + 1);
    }
    const pivot = this.#median(i, j, k);
    if (this.#swaps === 0) return { pivot, hint: 'increasing' };
    return { pivot, hint: this.#swaps === mostSwaps ? 'decreasing' : 'unknown' };
  }

  #median(a: number, b: number, c: number): number {
    const [low, high] = this.#ordered(a, b);
    const [middle] = this.#ordered(high, c);
    return this.#ordered(low, middle)[1];
  }

  #ordered(a: number, b: number): [number, number] {
    if (!this.#less(b, a)) return [a, b];
    this.#swaps += 1;
    return [b, a];
  }

  /** Reverses a decreasing sequence. */
  #increasing(
    a: number,
    b: number,
    { pivot, hint }: { pivot: number; hint: Hint },
  ): { pivot: number; hint: Hint } {
    if (hint !== 'decreasing') return { pivot, hint };
    for (let [i, j] = [a, b - 1]; i < j; i += 1, j -= 1) this.#swap(i, j);
    return { pivot: b - 1 - (pivot - a), hint: 'increasing' };
  }
}

function bitLength(value: number): number {
  return value === 0 ? 0 : Math.floor(Math.log2(value)) + 1;
}

function xorshift(seed: bigint): () => bigint {
  let state = seed;
  return () => {
    state ^= BigInt.asUintN(64, state << 13n);
    state ^= state >> 7n;
    state ^= BigInt.asUintN(64, state << 17n);
    return state;
  };
}
