import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { extname, join } from 'node:path';
import {
  type DevelopmentVariables,
  developmentVariables,
  nodePermissions,
} from '../../platform/runtime/index.ts';

/**
 * Restrictions for foreign code: it gets as little access to this process and machine as possible.
 */
export interface Confinement {
  /** Folders and files that it may read, besides core's own package. */
  readonly readable: readonly string[];
}

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const entry = join(import.meta.dirname, `entry/worker-entry${extname(import.meta.filename)}`);

export interface StartOptions {
  readonly memoryMegabytes: number;
  readonly confinement?: Confinement | undefined;
  /**
   * For core's own modules that read untrusted data: the same permissions, with read access to
   * core's package, and an environment without secrets. An exploited parser then cannot reach
   * core's token.
   */
  readonly sandboxed?: boolean | undefined;
}

/** Starts a worker process; its fourth stream is the socket for messages. */
export function startProcess(options: StartOptions): ChildProcess {
  const { memoryMegabytes, confinement, sandboxed = false } = options;
  const flags = [
    `--max-old-space-size=${memoryMegabytes}`,
    // Keeps the young generation small: measured, rendering did not become slower
    // (docs/benchmarks).
    '--max-semi-space-size=8',
  ];
  const stdio = ['ignore', 'pipe', 'pipe', 'pipe'] as const;
  if (confinement === undefined && !sandboxed) {
    return spawn(process.execPath, [...flags, entry], { stdio: [...stdio] });
  }
  const variables = confinement === undefined ? developmentVariables() : {};
  const env = confinement === undefined ? trustedEnvironment(process.env) : passedOn(process.env);
  const child = spawn(
    process.execPath,
    [...flags, ...permissions(confinement, variables), entry, 'confined'],
    // The environment has neither the kubeconfig's path nor tokens, nor proxies with passwords.
    { stdio: [...stdio], cwd: '/', env: { ...env, ...variables } },
  );
  if (confinement !== undefined && child.pid !== undefined) standBack(child.pid);
  return child;
}

/** The socket for messages; undefined when the process could not be started. */
export function messageSocket(process: ChildProcess): Socket | undefined {
  const [, , , socket] = socketsOf(process);
  return socket ?? undefined;
}

/** Whether a process keeps this one alive, as an idle one does not. */
export function holdProcess(process: ChildProcess, alive: boolean): void {
  for (const handle of [process, ...socketsOf(process)]) {
    if (alive) handle?.ref();
    else handle?.unref();
  }
}

/**
 * The pipes are sockets, whatever their type says; there are none when the process could not be
 * started.
 */
function socketsOf(process: ChildProcess): readonly (Socket | null | undefined)[] {
  const { stdio } = process as unknown as { readonly stdio?: readonly (Socket | null)[] };
  return stdio ?? [];
}

function permissions(
  confinement: Confinement | undefined,
  variables: DevelopmentVariables,
): readonly string[] {
  return [
    ...nodePermissions({ readable: confinement?.readable ?? [] }, variables),
    // A file from a ConfigMap has no package.json that names its module type.
    '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
  ];
}

/** Variables with which Node and malloc work as in this process. */
function passedOn({ TZ, LANG, MALLOC_ARENA_MAX }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return defined({ TZ, LANG, MALLOC_ARENA_MAX });
}

/** Also for core's own code: CA files. */
function trustedEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS, NODE_USE_SYSTEM_CA, SSL_CERT_FILE, SSL_CERT_DIR } = env;
  const authorities = { NODE_EXTRA_CA_CERTS, NODE_USE_SYSTEM_CA, SSL_CERT_FILE, SSL_CERT_DIR };
  return { ...passedOn(env), ...defined(authorities) };
}

/** Node would pass undefined on as the text "undefined". */
function defined(env: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}

const lowPriority = 5;

/**
 * Gives the process a low priority, so that an endless loop leaves the processor to the manager,
 * and makes it the first to be killed when memory runs out.
 */
function standBack(pid: number): void {
  try {
    setPriority(pid, lowPriority);
  } catch {
    // It has ended already, as its exit reports.
  }
  // Exists only on Linux.
  writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => undefined);
}
