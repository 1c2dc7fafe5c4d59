import { age } from '../terminal/text.ts';

interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Milliseconds between two drawings. */
const pause = 200;
const clear = '\r\u001b[K';

/** Progress in bytes and the time left, on one terminal line. Prints nothing without a terminal. */
export class ProgressLine {
  readonly #output: ProgressOutput;
  readonly #now: () => number;
  #total = 0;
  #done = 0;
  #sent = 0;
  #start = 0;
  #drawn = 0;

  constructor(output: ProgressOutput, now: () => number = Date.now) {
    this.#output = output;
    this.#now = now;
  }

  begin(bytes: number): void {
    this.#total = bytes;
    this.#start = this.#now();
  }

  /** @param sent whether the bytes went over the network; only those count for the speed */
  add(bytes: number, sent: boolean): void {
    this.#done += bytes;
    if (sent) this.#sent += bytes;
    if (this.#output.isTTY !== true || this.#now() - this.#drawn < pause) return;
    this.#drawn = this.#now();
    this.#output.write(`${clear}${this.text()}`);
  }

  /** Removes the progress line before a line of the report. */
  clear(): void {
    if (this.#output.isTTY === true && this.#drawn > 0) this.#output.write(clear);
  }

  /** `1.2 of 3.4 GB, 40s left` */
  text(): string {
    // The total counts a blob of several repositories once.
    const done = Math.min(this.#done, this.#total);
    const text = `${byteText(done)} of ${byteText(this.#total)}`;
    const seconds = (this.#now() - this.#start) / 1000;
    if (this.#sent === 0 || seconds < 1) return text;
    const left = ((this.#total - done) / this.#sent) * seconds;
    return `${text}, ${age(left * 1000)} left`;
  }
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Decimal units, as for registries and disks. */
export function byteText(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}
