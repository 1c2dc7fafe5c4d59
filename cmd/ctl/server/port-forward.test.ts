import { describe, expect, it } from 'vitest';
import type { RawRequest } from '../../../core/platform/kube/kube-client.ts';
import { podOfService } from './port-forward.ts';

const place = { namespace: 'sys', service: 'core', port: 'https' };
const { signal } = new AbortController();

const service = {
  selector: { app: 'core' },
  ports: [{ name: 'https', port: 443, targetPort: 8443 }],
};

function aPod(name: string, ready = 'True', metadata: object = {}): object {
  return {
    metadata: { name, ...metadata },
    spec: { containers: [{ ports: [{ name: 'tls', containerPort: 9443 }] }] },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  };
}

async function found(spec: object, ...items: readonly object[]): Promise<unknown> {
  return await foundFor(place, spec, items);
}

async function foundFor(
  wanted: Parameters<typeof podOfService>[1],
  spec: object,
  items: readonly object[],
): Promise<unknown> {
  const paths: string[] = [];
  const request = async ({ path }: RawRequest): Promise<unknown> => {
    paths.push(path);
    return path.includes('/pods') ? { items } : { spec };
  };
  const pod = await podOfService({ client: { request } as never }, wanted, signal);
  expect(paths).toEqual([
    '/api/v1/namespaces/sys/services/core',
    '/api/v1/namespaces/sys/pods?labelSelector=app%3Dcore',
  ]);
  return pod;
}

describe('podOfService', () => {
  it('takes a pod that is ready and stays', async () => {
    const leaving = aPod('b', 'True', { deletionTimestamp: '2026-01-01T00:00:00Z' });
    const pod = await found(service, aPod('a', 'False'), leaving, aPod('c'));
    expect(pod).toEqual({ namespace: 'sys', pod: 'c', port: 8443 });
  });

  it.each([
    ['a number', 8443, 8443],
    ['a name', 'tls', 9443],
    ['nothing', undefined, 443],
  ])('finds the port behind %s', async (_what, targetPort, port) => {
    const ports = [{ name: 'https', port: 443, targetPort }];
    expect(await found({ ...service, ports }, aPod('a'))).toMatchObject({ port });
  });

  it('finds a port by its number', async () => {
    const pod = await foundFor({ ...place, port: 443 }, service, [aPod('a')]);
    expect(pod).toMatchObject({ port: 8443 });
    await expect(foundFor({ ...place, port: 80 }, service, [])).rejects.toThrow('has no port 80');
  });

  it.each([
    ['no such port', { ...service, ports: [] }, 'has no port named "https"'],
    ['no selector', { ...service, selector: {} }, 'selects no pods: use --server'],
    ['no ready pod', service, 'no pod of Service "core" in namespace "sys" is ready: see kubectl'],
  ])('says what is wrong with %s', async (_what, spec, message) => {
    await expect(found(spec)).rejects.toThrow(message);
  });

  it('says that no container has the port', async () => {
    const ports = [{ name: 'https', port: 443, targetPort: 'web' }];
    await expect(found({ ...service, ports }, aPod('a'))).rejects.toThrow(
      'pod "a" has no port named "web", which Service "core" in namespace "sys" wants',
    );
  });
});
