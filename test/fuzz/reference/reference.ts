import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { ByteReader } from '../../../core/content/index.ts';
import { goBuild, hasGo, userCache, withLock } from '../../../deploy/go-build/index.ts';

/** Environment variable with the path of the Go program; without it targets compare nothing. */
const variable = 'RUKPAK_FUZZ_REFERENCE';
const module = import.meta.dirname;

/** Builds the program in the user's cache folder, for the targets of all processes; false without Go. */
export async function useReference(): Promise<boolean> {
  const { env } = process;
  if (!(await hasGo(env))) return false;
  const hash = createHash('sha256');
  hash.update((await promisify(execFile)('go', ['env', 'GOVERSION'], { cwd: module })).stdout);
  for (const name of ['go.mod', 'go.sum', 'main.go'])
    hash.update(await readFile(join(module, name)));
  const folder = join(userCache(env), 'fuzz', hash.digest('hex').slice(0, 16));
  const target = join(folder, 'reference');
  await mkdir(folder, { recursive: true });
  const onProgress = (line: string): void => console.error(line);
  const { signal } = new AbortController();
  const title = 'what fuzz targets compare with';
  await withLock(
    `${target}.lock`,
    { purpose: `building ${title}`, onProgress, signal },
    async () => {
      if (await exists(target)) return;
      await goBuild({ title, package: '.', cwd: module, target, env, onProgress, signal });
    },
  );
  env[variable] = target;
  return true;
}

export type Reader = 'yaml' | 'reference' | 'tar' | 'known-hosts';

export interface Answer {
  readonly value?: unknown;
  readonly error?: string;
}

let running: ReferenceProcess | undefined;

/** Result of Go's reader; undefined without the Go program. */
export async function askReference(reader: Reader, input: Uint8Array): Promise<Answer | undefined> {
  const path = process.env[variable];
  if (path === undefined) return undefined;
  running ??= new ReferenceProcess(path);
  const answer = await running.ask(reader, input);
  // It has ended, as nothing else stops what took it too long.
  if (answer.error === givenUp) running = undefined;
  return answer;
}

/** The program's. */
const givenUp = 'given up';

/** Answers one question after another, and ends with this process. */
class ReferenceProcess {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: ByteReader;

  constructor(path: string) {
    this.#process = spawn(path, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#answers = new ByteReader(this.#process.stdout, new AbortController().signal);
    this.#hold(false);
  }

  async ask(reader: Reader, input: Uint8Array): Promise<Answer> {
    const head = Buffer.alloc(5);
    head.write(reader.slice(0, 1), 0, 'latin1');
    head.writeUInt32LE(input.byteLength, 1);
    this.#hold(true);
    this.#process.stdin.write(Buffer.concat([head, input]));
    const length = Buffer.from(await this.#answers.read(4)).readUInt32LE(0);
    const text = Buffer.from(await this.#answers.read(length)).toString('utf8');
    this.#hold(false);
    return JSON.parse(text) as Answer;
  }

  /** While idle, it does not keep this process alive. */
  #hold(isAsked: boolean): void {
    const handles = [this.#process, this.#process.stdin, this.#process.stdout] as unknown as {
      ref(): void;
      unref(): void;
    }[];
    for (const handle of handles) {
      if (isAsked) handle.ref();
      else handle.unref();
    }
  }
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
