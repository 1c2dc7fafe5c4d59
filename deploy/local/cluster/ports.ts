import { once } from 'node:events';
import { createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

// Below the range systems hand out by themselves, so that no outgoing connection takes a port
// between our look and the start of the server.
const LOWEST = 20_000;
const HIGHEST = 30_000;
const ATTEMPTS = 200;

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

/** `count` different free ports, none of them in `taken`. */
export async function freePorts(count: number, taken: readonly number[]): Promise<number[]> {
  const found: number[] = [];
  for (let attempt = 0; attempt < ATTEMPTS && found.length < count; attempt++) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (taken.includes(port) || found.includes(port)) continue;
    if (await isFree(port)) found.push(port);
  }
  if (found.length < count) {
    throw new Error(`no ${count} free ports between ${LOWEST} and ${HIGHEST} on ${LOOPBACK}`);
  }
  return found;
}
