import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { RawRequest } from '../../../core/platform/kube/kube-client.ts';
import { LogReader } from './log-reader.ts';

const { signal } = new AbortController();

function aPod(name: string): KubernetesObject {
  const spec = { containers: [{ name: 'core' }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
}

test('lines that a failed call has read come with the next one', async () => {
  let isDown = true;
  const client = {
    get: async () => aPod('unused'),
    list: async () => ({ metadata: { resourceVersion: '1' }, items: [aPod('a'), aPod('b')] }),
    request: async ({ path }: RawRequest) => {
      const isFirst = path.includes('/pods/a/');
      if (!isFirst && isDown) throw new Error('cannot reach the API server');
      const level = 'info';
      const msg = isFirst ? 'of a' : 'of b';
      return `2030-01-01T00:00:0${isFirst ? 1 : 2}Z ${JSON.stringify({ level, msg })}\n`;
    },
  };
  const since = new Date('2029-12-31T23:00:00Z');
  const reader = new LogReader(client, { namespace: 'rukpak-system', level: 'info', since });
  await expect(reader.more(signal)).rejects.toThrow('cannot reach');
  isDown = false;
  const lines = await reader.more(signal);
  expect(lines.map(({ text }) => JSON.parse(text).msg)).toEqual(['of a', 'of b']);
  expect(await reader.more(signal)).toEqual([]);
});
