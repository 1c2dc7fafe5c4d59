import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError } from 'commander';
import { findBinaries, folderOf } from './binaries/find-binaries.ts';
import type { Cluster } from './cluster/start-cluster.ts';
import { startCluster } from './cluster/start-cluster.ts';
import { stopCluster } from './cluster/stop-cluster.ts';

const DEFAULT_DIR = fileURLToPath(new URL('../../.rukpak/cluster', import.meta.url));
const HIGHEST_PORT = 65_535;

interface UpOptions {
  readonly dir: string;
  readonly port?: number;
  readonly audit?: boolean;
}

const say = (line: string) => process.stderr.write(`${line}\n`);
const print = (line: string) => process.stdout.write(`${line}\n`);

// npm changes to the project's folder; relative paths belong to the user's folder.
const fromUser = (dir: string) => resolve(process.env['INIT_CWD'] ?? process.cwd(), dir);

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port <= HIGHEST_PORT) return port;
  throw new InvalidArgumentError(`a port is a number from 1 to ${HIGHEST_PORT}.`);
}

function describe(cluster: Cluster, startedAt: number): void {
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  say(cluster.reused ? `already up in ${cluster.dir}` : `up in ${seconds} s`);
  print(`export KUBECONFIG=${cluster.kubeconfig}`);
  print(`registry: ${cluster.registry}`);
  const dir = cluster.dir === DEFAULT_DIR ? '' : ` --dir ${cluster.dir}`;
  print(`stop: npm run cluster -- down${dir}`);
}

async function up(options: UpOptions, signal: AbortSignal): Promise<void> {
  const startedAt = Date.now();
  const { port, audit } = options;
  const cluster = await startCluster({
    dir: fromUser(options.dir),
    ...(port === undefined ? {} : { port }),
    ...(audit === undefined ? {} : { audit }),
    onProgress: say,
    signal,
  });
  describe(cluster, startedAt);
}

async function down(dir: string): Promise<void> {
  const folder = fromUser(dir);
  const stopped = await stopCluster(folder);
  if (stopped === undefined) say(`nothing is up in ${folder}`);
  else if (stopped.kept.length === 0) say(`stopped, and removed ${folder}`);
  else say(`stopped; ${folder} is kept, with files of yours: ${stopped.kept.join(', ')}`);
}

async function binaries(signal: AbortSignal): Promise<void> {
  const found = await findBinaries({ onProgress: say, signal });
  for (const [name, file] of Object.entries(found)) say(`${name}: ${file}`);
  print(await folderOf(found, process.env));
}

function program(signal: AbortSignal): Command {
  const root = new Command('cluster').description(
    'A real Kubernetes control plane and an OCI registry on this machine',
  );
  const dirOption = ['--dir <folder>', "the cluster's folder", DEFAULT_DIR] as const;
  root
    .command('binaries')
    .description('find, download or build what a cluster runs, and print the folder')
    .action(() => binaries(signal));
  root
    .command('up')
    .description(
      'start a cluster, or say how to use the one that is up; refuses a folder with one that is not up',
    )
    .option(...dirOption)
    .option('--port <number>', "the API server's port (default: 16443, or a free one)", parsePort)
    .option('--audit', 'write one line per API request to audit.log in the folder')
    .action((options: UpOptions) => up(options, signal));
  root
    .command('down')
    .description('stop a cluster and remove its folder with all data; other files in it are kept')
    .option(...dirOption)
    .action(({ dir }: { dir: string }) => down(dir));
  return root;
}

const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => interruption.abort(new Error(`interrupted by ${name}`)));
}
try {
  await program(interruption.signal).parseAsync();
} catch (error) {
  say(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
