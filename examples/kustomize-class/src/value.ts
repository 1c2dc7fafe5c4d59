import { TerminalError } from 'rukpak-ts/sdk';
import { type Fields, isFields } from './fields.ts';
import { quoted } from './quoted.ts';

/** A value that somebody wrote, and where: what is wrong with it is said with file and field. */
export class Value {
  readonly file: string;
  readonly field: string;
  readonly #value: unknown;

  constructor(value: unknown, file: string, field = '') {
    this.#value = value;
    this.file = file;
    this.field = field;
  }

  get isThere(): boolean {
    return this.#value !== undefined && this.#value !== null;
  }

  get(name: string): Value {
    const field = this.field === '' ? name : `${this.field}.${name}`;
    return new Value(this.isThere ? this.fields()[name] : undefined, this.file, field);
  }

  /** Refuses what is not understood: leaving it out would install something else than was meant. */
  onlyHas(...names: readonly string[]): void {
    const other = Object.keys(this.fields()).find((name) => !names.includes(name));
    if (other !== undefined) throw this.get(other).refused('is not supported by this class');
  }

  fields(): Fields {
    if (!isFields(this.#value)) throw this.refused('must be a map');
    return this.#value;
  }

  list(): readonly Value[] {
    if (!this.isThere) return [];
    if (!Array.isArray(this.#value)) throw this.refused('must be a list');
    return this.#value.map((item, at) => new Value(item, this.file, `${this.field}[${at}]`));
  }

  text(): string {
    if (typeof this.#value !== 'string') throw this.refused('must be a text (numbers in quotes)');
    return this.#value;
  }

  optionalText(): string | undefined {
    return this.isThere ? this.text() : undefined;
  }

  number(): number {
    if (typeof this.#value !== 'number') throw this.refused('must be a number');
    return this.#value;
  }

  flag(): boolean {
    if (!this.isThere) return false;
    if (typeof this.#value !== 'boolean') throw this.refused('must be true or false');
    return this.#value;
  }

  texts(): Readonly<Record<string, string>> {
    if (!this.isThere) return {};
    const names = Object.keys(this.fields());
    return Object.fromEntries(names.map((name) => [name, this.get(name).text()]));
  }

  refused(why: string): TerminalError {
    const place = this.field === '' ? '' : ` field ${quoted(this.field)}`;
    return new TerminalError(`${this.file}:${place} ${why}`);
  }
}
