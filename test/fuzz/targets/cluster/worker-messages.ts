import {
  OutputAllowance,
  parseMessage,
} from '../../../../core/classes/worker/protocol/messages.ts';
import type { FuzzTarget } from '../../fuzz-target.ts';

const messages = [
  { type: 'log', level: 'info', fields: { a: 1 }, message: 'x' },
  {
    type: 'files',
    files: { paths: ['manifests/a.yaml'], sizes: [12], directories: ['manifests'] },
  },
  { type: 'objects', objects: [{ apiVersion: 'v1', kind: 'ConfigMap', data: { n: 1 } }] },
  { type: 'end', error: { kind: 'terminal', message: 'x', reason: 'Y' } },
  { type: 'description', className: 'a', contractVersion: 1, handlers: ['bundle'], uses: [] },
];

/** Messages that a third party's worker process may send to the manager instead of an answer. */
export const workerMessages: FuzzTarget = {
  name: 'worker-messages',
  seeds: messages.map((message) => JSON.stringify(message)),
  words: [
    '"type":"end"',
    '"sizes":[-1]',
    '12345678901234567890',
    '[[[[',
    '"__proto__":{},',
    '1e999',
    'null',
  ],
  refusals: [Error],
  read(input) {
    parseMessage(Buffer.from(input), new OutputAllowance());
  },
};
