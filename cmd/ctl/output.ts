import { Writable } from 'node:stream';
import { Option } from 'commander';
import { stringifyJson } from '../../api/json.ts';
import { visibleText } from './visible-text.ts';
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

  /** Many, each as soon as it is there. */
  async lines(texts: Iterable<string> | AsyncIterable<string>): Promise<void> {
    const output = this.#format === 'text' ? process.stdout : nowhere();
    await writeOutput(terminated(texts), output);
  }

  async result(value: object): Promise<void> {
    if (this.#format === 'json') await writeOutput([`${stringifyJson(value)}\n`], process.stdout);
  }
}

async function* terminated(
  texts: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<string> {
  for await (const text of texts) yield `${visibleText(text)}\n`;
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
