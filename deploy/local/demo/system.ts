import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

export interface SystemPorts {
  readonly content: number;
  readonly health: number;
  readonly webhooks: number;
}

export interface SystemOptions {
  /** The project's folder. */
  readonly root: string;
  readonly kubeconfig: string;
  readonly registry: string;
  readonly storage: string;
  readonly logFile: string;
  readonly ports: SystemPorts;
}

export interface DemoSystem {
  readonly pid: number;
  /** Ends it gracefully. */
  stop(): Promise<void>;
  /** Lets it outlive this process. */
  detach(): void;
}

const readyTimeout = 60_000;

/** The command that runs the system against the demo's cluster. */
export function systemCommand({ ports, storage, registry }: SystemOptions): string {
  return [
    'npm run rukpak -- all',
    `--http-bind-address=127.0.0.1:${ports.content}`,
    `--http-external-address=http://127.0.0.1:${ports.content}`,
    `--health-probe-bind-address=127.0.0.1:${ports.health}`,
    `--webhook-bind-address=127.0.0.1:${ports.webhooks}`,
    `--provisioner-storage-dir=${storage}`,
    `--insecure-registry=${registry}`,
    // Where the demo's git and file servers are: sources reach no loopback otherwise.
    '--allow-source-address=127.0.0.1',
  ].join(' ');
}

/** Starts the system in the background and waits until it is ready. */
export async function startSystem(options: SystemOptions): Promise<DemoSystem> {
  const [, ...flags] = systemCommand(options).split(' -- ')[1]?.split(' ') ?? [];
  // A file of its own, not a pipe to us: the system may outlive the demo.
  const log = await open(options.logFile, 'w');
  const child = spawn(process.execPath, ['cmd/rukpak.ts', 'all', ...flags], {
    cwd: options.root,
    env: { ...process.env, KUBECONFIG: options.kubeconfig },
    stdio: ['ignore', log.fd, log.fd],
    detached: true,
  });
  await log.close();
  const running = (): boolean => child.exitCode === null && child.signalCode === null;
  const stop = async (): Promise<void> => {
    if (!running()) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  try {
    await ready(options, running);
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: child.pid ?? 0, stop, detach: () => child.unref() };
}

async function ready(options: SystemOptions, running: () => boolean): Promise<void> {
  const deadline = Date.now() + readyTimeout;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${options.ports.health}/readyz`).catch(
      () => undefined,
    );
    if (answer?.ok === true) return;
    if (!running() || Date.now() > deadline) {
      const log = await readFile(options.logFile, 'utf8').catch(() => '');
      throw new Error(
        `the system does not get ready; its log ${options.logFile} ends with:\n${log.slice(-2000)}`,
      );
    }
    await delay(100);
  }
}
