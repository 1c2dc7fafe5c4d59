import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { z } from 'zod';
import type { ApiClient } from './api-client.ts';
import { NODE, NODE_NAME } from './components/kwok.ts';
import { LOOPBACK } from './ports.ts';
import type { ProcessRecord } from './processes.ts';
import { isRunning } from './processes.ts';

const POLL_MILLISECONDS = 100;
const READY_MILLISECONDS = 300_000;
const LOG_LINES = 12;

/** A part ended, or did not become ready in time; the message contains the end of its log. */
export class PartFailedError extends Error {
  override readonly name = 'PartFailedError';
}

async function failure(record: ProcessRecord, what: string): Promise<PartFailedError> {
  const text = await readFile(record.log, 'utf8').catch(() => '');
  const lines = text.trimEnd().split('\n').slice(-LOG_LINES);
  return new PartFailedError(
    `${record.name} ${what}; its log is ${record.log} and ends with:\n${lines.join('\n')}`,
  );
}

/** Fails when one of the processes has ended. */
export async function checkRunning(records: readonly ProcessRecord[]): Promise<void> {
  for (const record of records) {
    if (!(await isRunning(record))) throw await failure(record, 'ended right after its start');
  }
}

export interface Expectation {
  /** The awaited part, for the error. */
  readonly part: ProcessRecord;
  readonly what: string;
  /** Whether it is ready now; a rejection counts as no. */
  readonly check: () => Promise<boolean>;
  /** Processes that must stay alive meanwhile. */
  readonly running: readonly ProcessRecord[];
  readonly signal: AbortSignal;
}

/** Returns when the check succeeds; fails when a part ends, or after the timeout. */
export async function waitUntilReady(expectation: Expectation): Promise<void> {
  const { part, what, check, running, signal } = expectation;
  const deadline = Date.now() + READY_MILLISECONDS;
  while (!(await check().catch(() => false))) {
    await checkRunning(running);
    if (Date.now() >= deadline) {
      throw await failure(part, `did not become ready in ${READY_MILLISECONDS / 1000} s (${what})`);
    }
    await sleep(POLL_MILLISECONDS, undefined, { signal });
  }
}

export async function acceptsConnections(port: number): Promise<boolean> {
  const socket = connect({ host: LOOPBACK, port });
  try {
    await once(socket, 'connect');
    return true;
  } finally {
    socket.destroy();
  }
}

export async function registryAnswers(address: string): Promise<boolean> {
  const response = await request(`http://${address}/v2/`);
  await response.body.dump();
  return response.statusCode === 200;
}

export async function apiserverReady(api: ApiClient): Promise<boolean> {
  return (await api.get('/readyz')).status === 200;
}

const nodeSchema = z.object({
  spec: z.object({ taints: z.array(z.unknown()).optional() }),
  status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })) }),
});

/** Ready, and no longer tainted as not ready, so that pods are placed at once. */
export async function nodeReady(api: ApiClient): Promise<boolean> {
  const { status, body } = await api.get(`/api/v1/nodes/${NODE_NAME}`);
  if (status === 404) await api.create('/api/v1/nodes', NODE);
  const node = nodeSchema.safeParse(body);
  if (!node.success || (node.data.spec.taints ?? []).length > 0) return false;
  return node.data.status.conditions.some(
    (condition) => condition.type === 'Ready' && condition.status === 'True',
  );
}

/** Pods cannot be created in a namespace before its service account exists. */
export async function serviceAccountReady(api: ApiClient): Promise<boolean> {
  return (await api.get('/api/v1/namespaces/default/serviceaccounts/default')).status === 200;
}
