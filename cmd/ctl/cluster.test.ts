import { expect, test } from 'vitest';
import { ApiError } from '../../core/platform/kube/index.ts';
import { explainedNotFound } from './cluster.ts';

const notServed = new ApiError(404, { message: 'the server answered with HTTP status 404' });
const noSuch = new ApiError(404, { message: 'bundledeployments.core.rukpak.io "a" not found' });
const forbidden = new ApiError(403, { message: 'forbidden' });

function aCluster(answer: ApiError | undefined) {
  const asked: string[] = [];
  const request = async ({ path }: { readonly path: string }): Promise<unknown> => {
    asked.push(path);
    if (answer !== undefined) throw answer;
    return {};
  };
  return { request, asked };
}

test('a cluster without RukPak is told as that, with the way out', async () => {
  expect(await explainedNotFound(notServed, aCluster(notServed))).toMatchObject({
    message: expect.stringMatching(
      /^the cluster does not serve core\.rukpak\.io\/v1alpha1: install rukpak-ts on it .*--context/,
    ),
  });
});

test('an object that is not there is told in the words of the API server', async () => {
  expect(await explainedNotFound(noSuch, aCluster(undefined))).toBe(noSuch);
  expect(await explainedNotFound(noSuch, aCluster(forbidden))).toBe(noSuch);
});

test('other errors stay as they are, and nothing is asked for them', async () => {
  const cluster = aCluster(notServed);
  expect(await explainedNotFound(forbidden, cluster)).toBe(forbidden);
  expect(cluster.asked).toEqual([]);
});
