import { parentPort, workerData } from 'node:worker_threads';
import type { Provisioner } from '../../core/sdk.ts';
import { silentLogger } from '../contexts.ts';
import type { FreshCall } from './determinism.ts';
import { callHandler } from './trial.ts';

const { module, handler, given } = workerData as FreshCall;
const { default: provisioner } = (await import(module)) as { readonly default: Provisioner };
const { signal } = new AbortController();
const context = { ...given.context, signal, logger: silentLogger };
const result = await callHandler(provisioner, handler, { ...given, context });
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
parentPort?.postMessage(result);
