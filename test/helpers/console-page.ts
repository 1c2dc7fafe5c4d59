import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const root = join(import.meta.dirname, '../..');

/** A command of a page, with what the page says that it prints. */
export interface ConsoleStep {
  /** Heading of the section. */
  readonly section: string;
  readonly command: string;
  /** A line of `…` alone stands for any lines, a `…` in a line for any text. */
  readonly shown: string;
}

/** A step that was run. */
export interface ConsoleResult extends ConsoleStep {
  /** Stdout and stderr, as a terminal shows them. */
  readonly printed: string;
}

/**
 * The commands in the blocks `console` of a page: a line that begins with `$ `, and those after it that
 * begin with `> `; what follows is shown as their output.
 */
export function consoleSteps(page: string): readonly ConsoleStep[] {
  return page.split(/^(?=#+ )/m).flatMap((section) => {
    const heading = /^#+ (.*)/.exec(section)?.[1] ?? '';
    const blocks = [...section.matchAll(/^```console\n(.*?)^```$/gms)];
    return blocks.flatMap(([, block = '']) => stepsOf(block, heading));
  });
}

function stepsOf(block: string, section: string): readonly ConsoleStep[] {
  const parts = block.split(/^(?=\$ )/m).filter((part) => part.startsWith('$ '));
  return parts.map((part) => {
    const lines = part.split('\n');
    const end = lines.findIndex((line, index) => index > 0 && !line.startsWith('> '));
    const command = lines
      .slice(0, end)
      .map((line) => line.slice(2))
      .join('\n');
    return { section, command, shown: lines.slice(end).join('\n') };
  });
}

export interface ConsoleSession {
  /** The working directory; its content is as the page says. */
  readonly dir: string;
  /** Added to the environment. PATH has the programs of this checkout first. */
  readonly env?: Readonly<Record<string, string>>;
  /** What stands in the page, and what is meant here, such as the host of a registry. */
  readonly meant?: Readonly<Record<string, string>>;
}

/**
 * Runs all commands of a page of docs/howto in one shell, in order: variables, folders and what runs in
 * the background stay. Outputs have the page's words again instead of what was meant.
 */
export async function followConsole(
  page: string,
  { dir, env = {}, meant = {} }: ConsoleSession,
): Promise<readonly ConsoleResult[]> {
  const steps = consoleSteps(await readFile(join(root, 'docs/howto', page), 'utf8'));
  const script = steps.map(({ command }) => `${marker}\n${replaced(command, meant)}\n`).join('');
  const path = [join(root, 'bin'), join(root, 'node_modules/.bin'), process.env['PATH']].join(':');
  const bash = spawn('bash', ['-c', `exec 2>&1\n${script}\n${cleanUp}`], {
    cwd: dir,
    env: { ...process.env, PATH: path, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [, ...printed] = (await text(bash.stdout)).split(boundary);
  const back = Object.fromEntries(Object.entries(meant).map(([shown, each]) => [each, shown]));
  return steps.map((step, index) => ({ ...step, printed: replaced(printed[index] ?? '', back) }));
}

/** In the output, between commands. */
const boundary = '\u001e';
/** Keeps `$?`. */
const marker = `{ __status=$?; printf '\\036'; (exit $__status); }`;
const cleanUp = `trap '' TERM; kill $(jobs -p) 2>/dev/null; wait 2>/dev/null`;

function replaced(text: string, words: Readonly<Record<string, string>>): string {
  return Object.entries(words).reduce((all, [from, to]) => all.replaceAll(from, to), text);
}

/** What the page shows as a pattern, where `…` stands for what is left out. */
export function shownPattern(shown: string): RegExp {
  const escaped = shown.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll(/^…\n/gm, '(?:.*\\n)*').replaceAll('…', '.*')}$`);
}
