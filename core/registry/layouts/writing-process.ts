import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { z } from 'zod';
import { beginOf, bootID } from '../../platform/runtime/index.ts';

/** A process, as far as another one can look for it later; only Linux tells all of it. */
export const writingProcessSchema = z.object({
  pid: z.int().positive(),
  /** When it began, in a unit of the kernel: its number may be another process's later. */
  begin: z.string().optional(),
  host: z.string(),
  /** ID of the installed system. */
  machine: z.string().optional(),
  /** ID of the system's start. */
  boot: z.string().optional(),
  /** Namespace of its number: each container has its own numbers. */
  namespace: z.string().optional(),
});

type WritingProcess = z.infer<typeof writingProcessSchema>;

export async function thisProcess(): Promise<WritingProcess> {
  const known = {
    begin: await beginOf(process.pid),
    machine: await textOf('/etc/machine-id'),
    boot: await bootID(),
    namespace: await readlink('/proc/self/ns/pid').catch(() => undefined),
  };
  const parts = Object.entries(known).filter(([, text]) => text !== undefined && text !== '');
  return { pid: process.pid, host: hostname(), ...Object.fromEntries(parts) };
}

/** Whether a process runs; undefined where that cannot be known, as on another host. */
export async function isRunning(other: WritingProcess): Promise<boolean | undefined> {
  const own = await thisProcess();
  if (own.host !== other.host || own.machine !== other.machine) return undefined;
  if (own.boot !== other.boot) return own.machine === undefined ? undefined : false;
  if (own.namespace !== other.namespace) return undefined;
  return hasProcess(other.pid) && (await beginOf(other.pid)) === other.begin;
}

function hasProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is there, and another user's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function textOf(path: string): Promise<string | undefined> {
  return (await readFile(path, 'utf8').catch(() => undefined))?.trim();
}
