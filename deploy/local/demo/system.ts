import { join } from 'node:path';
import { endWithCluster } from '../cluster/components/companions.ts';
import { layoutOf } from '../cluster/layout.ts';
import { type Part, startPart } from '../cluster/processes.ts';
import { acceptsConnections, waitUntilReady } from '../cluster/readiness.ts';

export interface SystemPorts {
  readonly content: number;
  readonly health: number;
  readonly webhooks: number;
}

export interface SystemOptions {
  /** The project's folder. */
  readonly root: string;
  /** Folder of the cluster. */
  readonly dir: string;
  readonly registry: string;
  readonly ports: SystemPorts;
}

export interface GitOptions {
  readonly root: string;
  readonly dir: string;
  /** Folder of the repositories. */
  readonly repositories: string;
  readonly port: number;
}

/** Files of the demo itself, in the cluster's folder and removed with it. */
export function demoFolder(dir: string): string {
  return join(layoutOf(dir).companions, 'demo');
}

/** The command that runs the system against the demo's cluster. */
export function systemCommand({ ports, dir, registry }: SystemOptions): string {
  return [
    'npm run rukpak -- all',
    `--http-bind-address=127.0.0.1:${ports.content}`,
    `--health-probe-bind-address=127.0.0.1:${ports.health}`,
    `--webhook-bind-address=127.0.0.1:${ports.webhooks}`,
    `--provisioner-storage-dir=${join(demoFolder(dir), 'bundles')}`,
    `--upload-storage-dir=${join(demoFolder(dir), 'uploads')}`,
    `--insecure-registry=${registry}`,
    // Address of the demo's git and file servers; sources may not use loopback addresses otherwise.
    '--allow-source-address=127.0.0.1',
  ].join(' ');
}

/** Starts the system, which ends with its cluster, and waits until it is ready. */
export async function startSystem(options: SystemOptions): Promise<void> {
  const [, ...flags] = systemCommand(options).split(' -- ')[1]?.split(' ') ?? [];
  const layout = layoutOf(options.dir);
  await startCompanion(
    options.dir,
    {
      name: 'rukpak',
      binary: process.execPath,
      args: [join(options.root, 'cmd/rukpak.ts'), 'all', ...flags],
      log: join(layout.logs, 'rukpak.log'),
      env: { KUBECONFIG: layout.kubeconfig },
    },
    () => isReady(options.ports.health),
  );
}

/** Starts a git server, which ends with the cluster. */
export async function startGit({ root, dir, repositories, port }: GitOptions): Promise<void> {
  await startCompanion(
    dir,
    {
      name: 'git server',
      binary: process.execPath,
      args: [join(root, 'deploy/local/git/serve.ts'), repositories, String(port)],
      log: join(layoutOf(dir).logs, 'git-server.log'),
    },
    () => acceptsConnections(port),
  );
}

async function startCompanion(
  dir: string,
  part: Part,
  check: () => Promise<boolean>,
): Promise<void> {
  const started = await startPart(part);
  await endWithCluster(dir, started);
  const { signal } = new AbortController();
  await waitUntilReady({
    part: started,
    what: 'it does not answer',
    check,
    running: [started],
    signal,
  });
}

async function isReady(port: number): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
}
