import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { goBuild, userCache, withLock } from '../../deploy/go-build/index.ts';

/**
 * The Go program of a folder with its own go.mod, or of a module that it requires, that tests
 * compare with or use: built in the user's cache, again when a file of the folder changes.
 */
export async function goReference(folder: string, program = '.'): Promise<string> {
  const name = basename(folder);
  const hash = createHash('sha256');
  hash.update((await promisify(execFile)('go', ['env', 'GOVERSION'], { cwd: folder })).stdout);
  const files = (await readdir(folder)).filter((file) => /\.(?:go|mod|sum)$/.test(file)).sort();
  for (const file of files) hash.update(await readFile(join(folder, file)));
  const place = join(userCache(process.env), 'references', hash.digest('hex').slice(0, 16));
  const target = join(place, name);
  await mkdir(place, { recursive: true });
  const onProgress = (line: string) => void process.stderr.write(`${line}\n`);
  const { signal } = new AbortController();
  const common = { env: process.env, onProgress, signal };
  await withLock(`${target}.lock`, { purpose: `building ${name}`, ...common }, async () => {
    const isBuilt = await access(target).then(
      () => true,
      () => false,
    );
    if (!isBuilt) await goBuild({ title: name, package: program, cwd: folder, target, ...common });
  });
  return target;
}

const mostOutput = 1_000_000_000;

/** The answers of a program that reads JSON lines and writes one JSON line for each. */
export async function askReference<Answer>(
  program: string,
  questions: readonly unknown[],
): Promise<readonly Answer[]> {
  const stdout = await new Promise<string>((resolve, reject) => {
    const child = execFile(program, { maxBuffer: mostOutput }, (error, output) => {
      if (error === null) resolve(output);
      else reject(error);
    });
    child.stdin?.end(questions.map((each) => `${JSON.stringify(each)}\n`).join(''));
  });
  const lines = stdout.split('\n').filter((line) => line !== '');
  if (lines.length !== questions.length) {
    throw new Error(`${program} gave ${lines.length} answers to ${questions.length} questions`);
  }
  return lines.map((line) => JSON.parse(line) as Answer);
}
