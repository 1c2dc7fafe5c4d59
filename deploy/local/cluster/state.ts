import { readFile, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Layout } from './layout.ts';

const processSchema = z.object({
  name: z.string(),
  pid: z.int().positive(),
  started: z.string(),
  log: z.string(),
});

const stateSchema = z.object({
  server: z.string(),
  registry: z.string(),
  kubectl: z.string(),
  /** Set after every part was ready once. */
  ready: z.boolean(),
  processes: z.array(processSchema).readonly(),
  /** Processes that use the cluster and end with it. */
  companions: z.array(processSchema).readonly().default([]),
});

/** The record in a cluster's folder. */
export interface ClusterState extends Readonly<z.infer<typeof stateSchema>> {}

/** The state in the folder; undefined when the folder contains no cluster. */
export async function readState(layout: Layout): Promise<ClusterState | undefined> {
  let text: string;
  try {
    text = await readFile(layout.state, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return stateSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new Error(
      `${layout.state} is not the record of a cluster; look at it and remove the folder by hand`,
      { cause: error },
    );
  }
}

/** Replaces the file in one step, so that no reader sees a half. */
export async function writeState(layout: Layout, state: ClusterState): Promise<void> {
  const temporary = `${layout.state}.${process.pid}.tmp`;
  await writeFile(temporary, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 });
  await rename(temporary, layout.state);
}
