import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { dirname, extname, join } from 'node:path';

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
  /**
   * For our own modules that read what strangers wrote: the same permissions, with our package to
   * read, and an environment without secrets. A hole in a parser is then no way to our token.
   */
  readonly sandboxed?: boolean | undefined;
}

/** A worker process; the fourth of its streams is the socket for messages. */
export function startProcess(options: StartOptions): ChildProcess {
  const { memoryMegabytes, confinement, sandboxed = false } = options;
  const flags = [
    `--max-old-space-size=${memoryMegabytes}`,
    // Less young garbage: measured, rendering became no slower by it (docs/benchmarks).
    '--max-semi-space-size=8',
  ];
  const stdio = ['ignore', 'pipe', 'pipe', 'pipe'] as const;
  if (confinement === undefined && !sandboxed) {
    return spawn(process.execPath, [...flags, entry], { stdio: [...stdio] });
  }
  const env = confinement === undefined ? trustedEnvironment(process.env) : passedOn(process.env);
  const child = spawn(
    process.execPath,
    [...flags, ...permissions(confinement?.readable ?? [], env), entry, 'confined'],
    // Neither the kubeconfig's place nor tokens or proxies with passwords.
    { stdio: [...stdio], cwd: '/', env },
  );
  if (confinement !== undefined && child.pid !== undefined) standBack(child.pid);
  return child;
}

/** Node counts through its inspector, and warns of that. */
const forCoverage = ['--allow-inspector', '--disable-warning=PERM0004'] as const;

/** Neither files of others nor writing, processes, threads, add-ons, WASI or the inspector. */
function permissions(
  readable: readonly string[],
  { NODE_V8_COVERAGE: coverage }: NodeJS.ProcessEnv,
): readonly string[] {
  return [
    '--permission',
    ...[...ownFolders(), ...readable].map((path) => `--allow-fs-read=${path}`),
    ...(coverage === undefined ? [] : [...forCoverage, `--allow-fs-write=${coverage}`]),
    // It opens and writes files wherever it likes, past those permissions.
    '--no-experimental-sqlite',
    // A file from a ConfigMap has no package.json next to it to say what it is.
    '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
  ];
}

/** What of the disk our own modules are loaded from. */
function ownFolders(): readonly string[] {
  const root = packageRoot(import.meta.dirname);
  return [join(root, '/'), ...moduleFolders(root)];
}

/** The folders in which Node looks for packages, from here upwards, as far as they exist. */
export function moduleFolders(from: string): readonly string[] {
  const parent = dirname(from);
  const above = parent === from ? [] : moduleFolders(parent);
  const folder = join(from, 'node_modules');
  return existsSync(folder) ? [folder, ...above] : above;
}

/** Sources are run in place, or from dist/. */
function packageRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json')) || dirname(folder) === folder) return folder;
  return packageRoot(dirname(folder));
}

/** What Node and malloc need to work as they do here. */
function passedOn({ TZ, LANG, MALLOC_ARENA_MAX }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return defined({ TZ, LANG, MALLOC_ARENA_MAX });
}

/** And for our own code: whose certificates servers may have, and where `npm run coverage` counts. */
function trustedEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS, NODE_USE_SYSTEM_CA, SSL_CERT_FILE, SSL_CERT_DIR } = env;
  const { NODE_V8_COVERAGE } = env;
  const authorities = { NODE_EXTRA_CA_CERTS, NODE_USE_SYSTEM_CA, SSL_CERT_FILE, SSL_CERT_DIR };
  return { ...passedOn(env), ...defined({ ...authorities, NODE_V8_COVERAGE }) };
}

/** Node would pass on the text "undefined". */
function defined(env: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
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
