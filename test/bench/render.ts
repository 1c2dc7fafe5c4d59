import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseJson } from '../../api/json.ts';
import {
  realBundleDirectory,
  realBundles,
  realBundlesArePresent,
} from '../helpers/real-bundles.ts';
import { type Row, report, rounded } from './report.ts';

const root = join(import.meta.dirname, '../..');
const megabyte = 1_000_000;

/** `rukpakctl render --stdin` over all real bundles, from the start of the process to its end. */
export async function benchRender(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      runs: { type: 'string', default: '5' },
      /** How many times the list of bundles is read in one run: more drown the start of the process. */
      repeat: { type: 'string', default: '1' },
    },
  });
  if (!realBundlesArePresent()) return;
  const repeat = Number(values.repeat);
  const directories = realBundles.map(({ name }) => realBundleDirectory(name));
  const bytes = directories.reduce((sum, directory) => sum + sizeOf(directory), 0) * repeat;
  const input = directories
    .map((directory) => `${directory}\n`)
    .join('')
    .repeat(repeat);
  const rows: Row[] = [];
  for (let run = 0; run < Number(values.runs); run += 1) {
    const start = performance.now();
    const lines = await render(input);
    const seconds = (performance.now() - start) / 1000;
    rows.push({
      bundles: lines.length,
      rendered: lines.filter((line) => (parseJson(line) as { ok: boolean }).ok).length,
      seconds: rounded(seconds),
      'bundles/s': rounded(lines.length / seconds),
      'MB/s': rounded(bytes / megabyte / seconds),
    });
  }
  report('render', rows);
}

async function render(input: string): Promise<readonly string[]> {
  const child = spawn(process.execPath, ['cmd/rukpakctl.ts', 'render', '--stdin'], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.end(input);
  await once(child, 'close');
  return Buffer.concat(chunks)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
}

/** Bytes of all files in it. */
function sizeOf(directory: string): number {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.reduce(
    (sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size,
    0,
  );
}
