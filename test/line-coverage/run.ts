/**
 * `npm run coverage -- record FILE [vitest's arguments]` runs tests and writes which lines of the
 * product they enter, in whatever process. `… -- compare BEFORE AFTER` prints the files that lost
 * lines. `… -- merge DUMPS CHECKOUT FILE` writes the same from what Node has written elsewhere.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type EnteredLines, enteredLines } from './entered-lines.ts';

const root = join(import.meta.dirname, '../..');

async function record(file: string, ...args: readonly string[]): Promise<void> {
  const dumps = await mkdtemp(join(tmpdir(), 'rukpak-coverage-'));
  try {
    const env = { ...process.env, NODE_V8_COVERAGE: dumps };
    const command = join(root, 'node_modules/vitest/vitest.mjs');
    const child = spawn(process.execPath, [command, 'run', ...args], { env, stdio: 'inherit' });
    const [code] = (await once(child, 'close')) as [number | null];
    process.exitCode = code ?? 1;
    await merge(dumps, root, file);
  } finally {
    await rm(dumps, { recursive: true, force: true });
  }
}

async function merge(dumps: string, checkout: string, file: string): Promise<void> {
  const lines = await enteredLines(dumps, resolve(checkout));
  await writeFile(file, JSON.stringify(lines));
  const count = Object.values(lines).reduce((sum, each) => sum + each.length, 0);
  console.log(`${count} lines of ${Object.keys(lines).length} files are entered`);
}

async function compare(before: string, after: string): Promise<void> {
  const [earlier, now] = await Promise.all([before, after].map(read));
  for (const [file, lines] of Object.entries(earlier ?? {})) {
    const kept = new Set(now?.[file]);
    const lost = lines.filter((line) => !kept.has(line));
    if (lost.length > 0)
      console.log(`${file}: ${lost.length} of ${lines.length}: ${lost.join(' ')}`);
  }
}

async function read(file: string): Promise<EnteredLines> {
  return JSON.parse(await readFile(file, 'utf8')) as EnteredLines;
}

const [command = '', ...args] = process.argv.slice(2);
const [first = '', second = '', third = ''] = args;
if (command === 'record' && first !== '') await record(first, ...args.slice(1));
else if (command === 'merge' && third !== '') await merge(first, second, third);
else if (command === 'compare' && second !== '') await compare(first, second);
else {
  console.error(
    'usage: npm run coverage -- record FILE [vitest args] | compare BEFORE AFTER | merge DUMPS CHECKOUT FILE',
  );
  process.exitCode = 2;
}
