import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeRegistry } from '../../test/helpers/fake-registry.ts';
import { systemClock } from '../platform/clock.ts';
import { emptyKeychain, RegistryAccess, referrersOf } from './index.ts';
import { mediaTypes } from './media-types.ts';
import { digestOf, parseImageReference } from './reference.ts';

const { signal } = new AbortController();
const subject = digestOf(Buffer.from('subject'));
const referrers = ['a', 'b', 'c'].map((text) => {
  const bytes = Buffer.from(text);
  const digest = digestOf(bytes);
  return { mediaType: mediaTypes.ociManifest, artifactType: 'x/y', digest, size: 1 };
});
let registry: FakeRegistry;
/** The status of a page, and the next one. */
let pages: (page: number) => { readonly status: number; readonly next?: string | undefined };
/** Bytes that each page has in addition, and how many were asked for. */
let padding: number;
let asked: number;

beforeEach(async () => {
  registry = await FakeRegistry.start();
  padding = 0;
  asked = 0;
  registry.intercept = (request, response) => {
    const url = new URL(request.url ?? '', 'http://registry');
    if (!url.pathname.includes('/referrers/')) return false;
    const page = Number(url.searchParams.get('page') ?? 0);
    asked += 1;
    const { status, next } = pages(page);
    const manifests = referrers.slice(page, page + 1);
    response
      .writeHead(status, next === undefined ? {} : { link: `<${next}>; rel="next"` })
      .end(
        JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests }) +
          ' '.repeat(padding),
      );
    return true;
  };
});

afterEach(() => registry.stop());

async function found(): Promise<readonly string[]> {
  const access = new RegistryAccess({
    insecureRegistries: [registry.host],
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
  });
  const { place } = access.repositoryTarget(parseImageReference(`${registry.host}/app:v1`));
  return (await referrersOf(place, subject, { signal })).map(({ digest }) => digest);
}

test.each([
  ['a path', (page: number) => `/v2/app/referrers/${subject}?page=${page}`],
  ['a query', (page: number) => `?page=${page}`],
])('all pages of referrers are read, by %s', async (_form, linkTo) => {
  pages = (page) => ({ status: 200, next: page < 2 ? linkTo(page + 1) : undefined });
  expect(await found()).toEqual(referrers.map(({ digest }) => digest));
});

test('a page that is missing is no end of the list', async () => {
  pages = (page) => (page === 0 ? { status: 200, next: '?page=1' } : { status: 404 });
  await expect(found()).rejects.toThrow(
    `registry ${registry.host} answered 404 Not Found for page 2 of the referrers of ${subject}`,
  );
});

test('a list without an end is refused', async () => {
  pages = () => ({ status: 200, next: '?page=1' });
  await expect(found()).rejects.toThrow(
    `registry ${registry.host} has more than 100 pages of referrers of ${subject}`,
  );
});

test('a list that would take much memory is refused before it does', async () => {
  padding = 3 * 1024 * 1024;
  pages = () => ({ status: 200, next: '?page=1' });
  await expect(found()).rejects.toThrow(
    `registry ${registry.host} has more than 16 MiB of referrers of ${subject}`,
  );
  expect(asked).toBe(6);
});
