import { expect, test } from 'vitest';
import { podReason } from './pod-reason.ts';

function aPod(status: object) {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status };
}

function waiting(reason: string, rest: object = {}, message?: string) {
  return { name: 'app', state: { waiting: { reason, message } }, ...rest };
}

const noNode = '0/1 nodes are available: 1 Insufficient memory.';

test.each<[string | undefined, object]>([
  [undefined, {}],
  [undefined, { containerStatuses: [{ name: 'app', state: { running: {} } }] }],
  [undefined, { containerStatuses: [waiting('ContainerCreating')] }],
  [
    `Unschedulable: ${noNode}`,
    {
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: noNode },
      ],
    },
  ],
  [
    'container app: ImagePullBackOff: Back-off pulling image "x"',
    { containerStatuses: [waiting('ImagePullBackOff', {}, 'Back-off pulling image "x"')] },
  ],
  [
    'container app: CrashLoopBackOff, after it ended with exit code 137 (OOMKilled)',
    {
      initContainerStatuses: [
        waiting('CrashLoopBackOff', {
          lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
        }),
      ],
      containerStatuses: [waiting('PodInitializing')],
    },
  ],
])('%s', (reason, status) => {
  expect(podReason(aPod(status))).toBe(reason);
});
