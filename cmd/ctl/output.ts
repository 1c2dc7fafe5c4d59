import { Option } from 'commander';
import { stringifyJson } from '../../api/json.ts';
import { writeOutput } from './write-output.ts';

export interface OutputFlags {
  readonly output: 'text' | 'json';
}

export function outputOption(): Option {
  return new Option('--output <format>', 'lines to read, or one JSON object for scripts')
    .choices(['text', 'json'])
    .default('text');
}

/** Prints the lines at once where a person reads, and the result at the end where a script does. */
export class Report {
  readonly #format: OutputFlags['output'];

  constructor({ output }: OutputFlags) {
    this.#format = output;
  }

  async line(text: string): Promise<void> {
    await this.lines([text]);
  }

  /** Many at once: each write of its own would add listeners to the output. */
  async lines(texts: readonly string[]): Promise<void> {
    if (this.#format !== 'text' || texts.length === 0) return;
    await writeOutput([texts.map((text) => `${text}\n`).join('')], process.stdout);
  }

  async result(value: object): Promise<void> {
    if (this.#format === 'json') await writeOutput([`${stringifyJson(value)}\n`], process.stdout);
  }
}
