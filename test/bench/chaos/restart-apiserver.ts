import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { layoutOf } from '../../../deploy/local/cluster/layout.ts';
import { isRunning, startPart } from '../../../deploy/local/cluster/processes.ts';
import { readState, writeState } from '../../../deploy/local/cluster/state.ts';
import { eventually } from '../../helpers/eventually.ts';

const name = 'kube-apiserver';

/** Kills a local cluster's API server and starts it again as it was. */
export async function restartApiserver(dir: string): Promise<void> {
  const layout = layoutOf(dir);
  const state = await readState(layout);
  const record = state?.processes.find((each) => each.name === name);
  if (state === undefined || record === undefined) throw new Error(`${dir} is no cluster's folder`);
  const line = await readFile(`/proc/${record.pid}/cmdline`, 'utf8');
  const [binary = '', ...args] = line.split('\0').slice(0, -1);
  process.kill(record.pid, 'SIGKILL');
  // The sockets of a process that was killed may outlive it for a moment.
  const { hostname, port } = new URL(state.server);
  await eventually(async () => {
    const ended = !(await isRunning(record)) && !(await accepts(hostname, Number(port)));
    if (!ended) throw new Error(`${name} does not end`);
  });
  const started = await startPart({ name, binary, args, log: record.log });
  const processes = state.processes.map((each) => (each === record ? started : each));
  await writeState(layout, { ...state, processes });
}

async function accepts(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
