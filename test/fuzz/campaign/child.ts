/** One target in a process of its own: it may run out of memory, or never return. */

import { residentOf } from '../../bench/process-memory.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { boundsOf, judge } from '../judge.ts';
import { fuzz } from '../session.ts';
import { FlightRecorder } from './flight.ts';
import type { FromChild, Order } from './messages.ts';

const atStart = residentOf(process.pid, 'VmRSS');

process.once('message', (order: Order) => {
  void obey(order).finally(() => process.disconnect());
});

async function obey(order: Order): Promise<void> {
  const { targets } = (await import(order.module)) as { readonly targets: readonly FuzzTarget[] };
  const target = targets.find(({ name }) => name === order.target);
  if (target === undefined) throw new Error(`${order.module} has no target "${order.target}"`);
  if (order.type === 'judge') {
    const problem = await judge(target, Buffer.from(order.input, 'base64'));
    tell({ type: 'judged', problem: problem ?? memoryProblem(target) });
    return;
  }
  using flight = new FlightRecorder(order.flight);
  await fuzz(target, {
    ...order,
    known: new Set(order.known),
    onInput(input) {
      // One of the previous inputs, or all together, took too much: the parent finds out which.
      const problem = memoryProblem(target);
      if (problem !== undefined) process.abort();
      flight.record(input);
    },
    onFinding: ({ problem, input }) => {
      tell({ type: 'finding', problem, input: Buffer.from(input).toString('base64') });
    },
  });
  tell({ type: 'done', inputs: flight.count });
}

function memoryProblem(target: FuzzTarget): string | undefined {
  const { memory } = boundsOf(target);
  const peak = residentOf(process.pid, 'VmHWM');
  return peak - atStart > memory ? `takes more than ${memory} MiB` : undefined;
}

function tell(message: FromChild): void {
  process.send?.(message);
}
