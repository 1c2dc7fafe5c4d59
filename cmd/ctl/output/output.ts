import { Writable } from 'node:stream';
import { Option } from 'commander';
import { stringifyJson } from '../../../api/json.ts';
import { type Paint, paintStates, showsColour } from '../terminal/paint.ts';
import { visibleText } from '../terminal/text.ts';
import { writeOutput } from './write-output.ts';

export { writeOutput };

const formats = ['text', 'wide', 'json', 'yaml'] as const;

export interface OutputFlags {
  readonly output: (typeof formats)[number];
}

export function outputOption(): Option {
  return new Option(
    '-o, --output <format>',
    'Output format: lines cut to the terminal, full lines, or one object for scripts',
  )
    .choices(formats)
    .default('text');
}

/** Narrower terminals wrap lines themselves. */
const leastWidth = 80;

/** Prints lines at once for people, and the result at the end for scripts. */
export class Report {
  readonly #format: OutputFlags['output'];
  readonly #onlyNews: boolean;
  /** The last printed text. */
  #last = '';

  /** With `onlyNews`, does not print the same text twice in a row. */
  constructor({ output }: OutputFlags, { onlyNews = false } = {}) {
    this.#format = output;
    this.#onlyNews = onlyNews;
  }

  /** Width in columns: that of the terminal, otherwise unlimited. */
  get width(): number {
    const { isTTY, columns } = process.stdout;
    if (this.#format === 'wide' || !isTTY) return Number.POSITIVE_INFINITY;
    return Math.max(columns ?? leastWidth, leastWidth);
  }

  async line(text: string): Promise<void> {
    await this.lines([text]);
  }

  /** Prints many lines, each as soon as it is available. */
  async lines(
    texts: Iterable<string> | AsyncIterable<string>,
    paint: Paint = paintStates,
  ): Promise<void> {
    const isRead = this.#format === 'text' || this.#format === 'wide';
    const paintOrNot = showsColour(process.stdout) ? paint : asItIs;
    const news = isRead && this.#onlyNews ? await this.#news(texts) : texts;
    await writeOutput(printed(news, paintOrNot), isRead ? process.stdout : nowhere());
  }

  /** Prints one object; each of several is a document or line of its own. */
  async result(value: object): Promise<void> {
    if (this.#format !== 'json' && this.#format !== 'yaml') return;
    const text = this.#format === 'json' ? `${stringifyJson(value)}\n` : await yamlOf(value);
    await writeOutput(this.#onlyNews ? await this.#news([text]) : [text], process.stdout);
  }

  /** The texts, or none of them when the last ones were equal. */
  async #news(texts: Iterable<string> | AsyncIterable<string>): Promise<readonly string[]> {
    const all: string[] = [];
    for await (const text of texts) all.push(text);
    const last = this.#last;
    this.#last = all.join('\n');
    return this.#last === last ? [] : all;
  }
}

/** Removes control characters first, so that foreign text cannot set colours. */
async function* printed(
  texts: Iterable<string> | AsyncIterable<string>,
  paint: Paint,
): AsyncGenerator<string> {
  for await (const text of texts) {
    yield `${visibleText(text).split('\n').map(paint).join('\n')}\n`;
  }
}

/** The YAML library takes long to load, and few users want YAML. */
async function yamlOf(value: object): Promise<string> {
  const { toYaml } = await import('../../../core/sdk.ts');
  return toYaml([value]);
}

function asItIs(line: string): string {
  return line;
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

const quiet = 1_000;
const reminder = 10_000;

/** Runs a step of a command, and names it when it takes long. */
export type Progress = <T>(step: string, work: () => Promise<T>) => Promise<T>;

interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Prints a line after a second, and one every ten seconds after that; only at a terminal. */
export function progressOn(output: ProgressOutput): Progress {
  if (output.isTTY !== true) return async (_step, work) => await work();
  return async (step, work) => {
    const start = Date.now();
    const first = setTimeout(() => output.write(`${step} …\n`), quiet);
    const more = setInterval(() => {
      output.write(`${step} … ${Math.round((Date.now() - start) / 1000)} s\n`);
    }, reminder);
    try {
      return await work();
    } finally {
      clearTimeout(first);
      clearInterval(more);
    }
  };
}
