import { once } from 'node:events';
import { createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

// Below the systems' range of ephemeral ports, so that no outgoing connection takes a port between
// the check and the start of the server.
const DEFAULT_RANGE: PortRange = { lowest: 20_000, highest: 30_000 };
const ATTEMPTS = 200;

export interface PortRange {
  readonly lowest: number;
  /** The first port after the range. */
  readonly highest: number;
}

/** Whether a server could listen on this port of the loopback address now. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ host: LOOPBACK, port, exclusive: true });
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

/** `count` different free ports of the range, none of them in `taken`. */
export async function freePorts(
  count: number,
  taken: readonly number[],
  { lowest, highest } = DEFAULT_RANGE,
): Promise<number[]> {
  const found: number[] = [];
  for (let attempt = 0; attempt < ATTEMPTS && found.length < count; attempt++) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (taken.includes(port) || found.includes(port)) continue;
    if (await isFree(port)) found.push(port);
  }
  if (found.length < count) {
    throw new Error(`no ${count} free ports between ${lowest} and ${highest} on ${LOOPBACK}`);
  }
  return found;
}
