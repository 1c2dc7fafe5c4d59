import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A command of a page, and the lines that the page shows of its output; none where it shows none. */
export interface PageCommand {
  readonly command: string;
  readonly output: readonly string[];
}

/** The commands of one section of README.md, in order. */
export function commandsOfReadme(heading: string): readonly PageCommand[] {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`README.md has no section ${heading}`);
  const blocks = [...section.matchAll(/^```(sh|console)\n(.*?)^```$/gms)];
  return blocks.flatMap(([, language, block = '']) =>
    language === 'sh' ? plainCommands(block) : shownCommands(block),
  );
}

function plainCommands(block: string): readonly PageCommand[] {
  return block
    .split('\n')
    .filter(Boolean)
    .map((command) => ({ command, output: [] }));
}

function shownCommands(block: string): readonly PageCommand[] {
  return block
    .split(/^\$ /m)
    .filter(Boolean)
    .map((part) => {
      const [command = '', ...output] = part.trimEnd().split('\n');
      return { command, output };
    });
}
