import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { extname, join } from 'node:path';
import { ownFolders } from './module-folders.ts';

/** For code that we did not write: it gets as little of this process and machine as it can do with. */
export interface Confinement {
  /** Folders and files that it may read, besides our own package. */
  readonly readable: readonly string[];
}

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const entry = join(import.meta.dirname, `worker-entry${extname(import.meta.filename)}`);

export interface StartOptions {
  readonly memoryMegabytes: number;
  readonly confinement?: Confinement | undefined;
}

/** A worker process; the fourth of its streams is the socket for messages. */
export function startProcess({ memoryMegabytes, confinement }: StartOptions): ChildProcess {
  const flags = [
    `--max-old-space-size=${memoryMegabytes}`,
    // Less young garbage: measured, rendering became no slower by it (docs/benchmarks).
    '--max-semi-space-size=8',
  ];
  const stdio = ['ignore', 'pipe', 'pipe', 'pipe'] as const;
  if (confinement === undefined) {
    return spawn(process.execPath, [...flags, entry], { stdio: [...stdio] });
  }
  const readable = [...ownFolders(), ...confinement.readable];
  const child = spawn(
    process.execPath,
    [
      ...flags,
      // Neither files of others nor writing, processes, threads, add-ons, WASI or the inspector.
      '--permission',
      ...readable.map((path) => `--allow-fs-read=${path}`),
      // It opens and writes files wherever it likes, past those permissions.
      '--no-experimental-sqlite',
      // A file from a ConfigMap has no package.json next to it to say what it is.
      '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
      entry,
      'confined',
    ],
    // Neither the kubeconfig's place nor tokens or proxies with passwords.
    { stdio: [...stdio], cwd: '/', env: passedOn(process.env) },
  );
  if (child.pid !== undefined) standBack(child.pid);
  return child;
}

/** What Node and malloc need to work as they do here. */
function passedOn({ TZ, LANG, MALLOC_ARENA_MAX }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...(TZ === undefined ? {} : { TZ }),
    ...(LANG === undefined ? {} : { LANG }),
    ...(MALLOC_ARENA_MAX === undefined ? {} : { MALLOC_ARENA_MAX }),
  };
}

const lowPriority = 5;

/** An endless loop leaves the processor to the manager, and memory that runs out is this one's fault. */
function standBack(pid: number): void {
  try {
    setPriority(pid, lowPriority);
  } catch {
    // It has ended already, which is told by its exit.
  }
  // Only Linux has it.
  writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => undefined);
}
