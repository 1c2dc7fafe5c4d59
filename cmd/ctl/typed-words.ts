import type { Command, Option } from 'commander';

/** What the words before the one to complete say. */
export class TypedWords {
  /** The command that they lead to. */
  command: Command;
  readonly positionals: string[] = [];
  /** Values of options by the names that actions know them by. */
  readonly values = new Map<string, string>();
  /** The option whose value is to come. */
  pending: Option | undefined;

  constructor(program: Command, words: readonly string[]) {
    this.command = program;
    for (const word of words) this.#take(word);
  }

  #take(word: string): void {
    const option = this.pending;
    if (option !== undefined) {
      this.values.set(option.attributeName(), word);
      this.pending = undefined;
    } else if (word.startsWith('-')) {
      this.#takeFlag(word);
    } else {
      this.#takeName(word);
    }
  }

  #takeFlag(word: string): void {
    const [flag = '', value] = word.split(/=(.*)/s);
    const option = this.command.options.find(({ long, short }) => long === flag || short === flag);
    if (option === undefined || option.isBoolean() || option.optional) return;
    if (value === undefined) this.pending = option;
    else this.values.set(option.attributeName(), value);
  }

  #takeName(word: string): void {
    const next = this.command.commands.find((each) =>
      [each.name(), ...each.aliases()].includes(word),
    );
    if (next !== undefined && this.positionals.length === 0) this.command = next;
    else this.positionals.push(word);
  }
}
