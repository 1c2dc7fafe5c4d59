import { afterAll, beforeAll, expect, test } from 'vitest';
import { judge } from '../helpers/admission.ts';
import { installOperatorCrds, removeOperatorCrds } from '../helpers/install-crds.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });

beforeAll(async () => await installOperatorCrds(plane.kubeconfig));
afterAll(async () => await removeOperatorCrds(plane.kubeconfig));

const hex = 'a'.repeat(64);

function aCatalog(spec?: object): object {
  return {
    apiVersion: 'catalogd.operatorframework.io/v1alpha1',
    kind: 'Catalog',
    metadata: { name: 'catalog-kinds' },
    ...(spec === undefined ? {} : { spec }),
  };
}

function ofImage(image: object): object {
  return aCatalog({ source: { type: 'image', image } });
}

function aClusterCatalog(spec: object): object {
  return {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterCatalog',
    metadata: { name: 'catalog-kinds' },
    spec,
  };
}

function ofClusterImage(image: object): object {
  return aClusterCatalog({ source: { type: 'Image', image } });
}

async function expectRefusal(object: object, ...texts: string[]): Promise<void> {
  const { refusal } = await judge(plane.kubeconfig, object);
  for (const text of texts) expect(refusal).toContain(text);
}

async function expectAcceptance(object: object): Promise<void> {
  expect((await judge(plane.kubeconfig, object)).refusal).toBeUndefined();
}

const digestWithPoll =
  'spec: Invalid value: cannot specify PollInterval while using digest-based image';

test.each<[what: string, object: object, ...texts: string[]]>([
  [
    'polling of a digest',
    ofImage({ ref: `r/c@sha256:${hex}`, pollInterval: '10m' }),
    digestWithPoll,
  ],
  [
    'polling of a digest at 0s',
    ofImage({ ref: `r/c@sha256:${hex}`, pollInterval: '0s' }),
    digestWithPoll,
  ],
  [
    'a source without image',
    aCatalog({ source: { type: 'image' } }),
    '"spec.source" must validate one and only one schema (oneOf). Found none valid',
    'spec.source.image: Required value',
  ],
  [
    'a source without type',
    aCatalog({ source: { image: { ref: 'r/c:v1' } } }),
    'spec.source.type: Required value',
  ],
  ['an image without ref', ofImage({}), 'spec.source.image.ref: Required value'],
  ['a spec without source', aCatalog({}), 'spec.source: Required value'],
  [
    'a poll interval that is a number',
    ofImage({ ref: 'r/c:v1', pollInterval: 5 }),
    'spec.source.image.pollInterval in body must be of type string: "integer"',
  ],
])('a Catalog with %s is refused', async (_what, object, ...texts) => {
  await expectRefusal(object, ...texts);
});

test.each<[what: string, object: object]>([
  ['no spec', aCatalog()],
  ['any type', aCatalog({ source: { type: 'git', image: { ref: 'x' } } })],
  ['an interval that is no duration', ofImage({ ref: 'r/c:v1', pollInterval: '1d' })],
  ['an empty interval', ofImage({ ref: `r/c@sha256:${hex}`, pollInterval: '' })],
  [
    'polling of a digest of another algorithm',
    ofImage({ ref: `r/c@sha512:${hex}`, pollInterval: '1h' }),
  ],
  ['any reference', ofImage({ ref: 'Not A Reference' })],
  [
    'every field',
    ofImage({ ref: 'r/c:v1', pollInterval: '1h30m', pullSecret: 's', insecureSkipTLSVerify: true }),
  ],
])('a Catalog with %s is accepted', async (_what, object) => {
  await expectAcceptance(object);
});

const notAllowed = 'image is required when source type is Image, and forbidden otherwise';

test.each<[what: string, object: object, text: string]>([
  [
    'polling of a digest',
    ofClusterImage({ ref: `example.com/c@sha256:${hex}`, pollIntervalMinutes: 1 }),
    'spec.source.image: Invalid value: cannot specify pollIntervalMinutes while using digest-based image',
  ],
  [
    'polling every 0 minutes',
    ofClusterImage({ ref: 'example.com/c:v1', pollIntervalMinutes: 0 }),
    'spec.source.image.pollIntervalMinutes in body should be greater than or equal to 1',
  ],
  [
    'another type',
    aClusterCatalog({ source: { type: 'image' } }),
    'spec.source.type: Unsupported value: "image": supported values: "Image"',
  ],
  [
    'no image',
    aClusterCatalog({ source: { type: 'Image' } }),
    `spec.source: Invalid value: ${notAllowed}`,
  ],
  ['no source', aClusterCatalog({}), 'spec.source: Required value'],
  ['no ref', ofClusterImage({}), 'spec.source.image.ref: Required value'],
  [
    'a priority beyond int32',
    aClusterCatalog({ ...source(), priority: 2147483648 }),
    'spec.priority in body should be less than or equal to 2147483647',
  ],
  [
    'another availability',
    aClusterCatalog({ ...source(), availabilityMode: 'Perhaps' }),
    'spec.availabilityMode: Unsupported value: "Perhaps": supported values: "Unavailable", "Available"',
  ],
])('a ClusterCatalog with %s is refused', async (_what, object, text) => {
  await expectRefusal(object, text);
});

function source(): object {
  return { source: { type: 'Image', image: { ref: 'example.com/c:v1' } } };
}

test.each<[ref: string, text: string]>([
  [
    '-quay+docker/foo/bar:v1',
    'must start with a valid domain. valid domains must be alphanumeric characters (lowercase and uppercase) separated by the "." character.',
  ],
  [
    'docker.io/FOO/BAR:v1',
    'a valid name is required. valid names must contain lowercase alphanumeric characters separated only by the ".", "_", "__", "-" characters.',
  ],
  [
    'docker.io:8080',
    'a valid name is required. valid names must contain lowercase alphanumeric characters separated only by the ".", "_", "__", "-" characters.',
  ],
  ['docker.io/foo/bar', 'must end with a digest or a tag'],
  [
    `docker.io/foo/bar:${'x'.repeat(128)}`,
    'tag is invalid. the tag must not be more than 127 characters',
  ],
  [
    'docker.io/foo/bar:-foo_bar-',
    'tag is invalid. valid tags must begin with a word character (alphanumeric + "_") followed by word characters or ".", and "-" characters',
  ],
  [
    `docker.io/foo/bar@99-problems:${hex}`,
    'digest algorithm is not valid. valid algorithms must start with an uppercase or lowercase alpha character followed by alphanumeric characters and may contain the "-", "_", "+", and "." characters.',
  ],
  [
    'docker.io/foo/bar@sha256:abcdef123456789',
    'digest is not valid. the encoded string must be at least 32 characters',
  ],
  [
    'docker.io/foo/bar@sha256:XYZxy123456789abcdef123456789abcd',
    'digest is not valid. the encoded string must only contain hex characters (A-F, a-f, 0-9)',
  ],
])('a ClusterCatalog of image %s is refused', async (ref, text) => {
  await expectRefusal(
    ofClusterImage({ ref }),
    `spec.source.image.ref: Invalid value: "${ref}": ${text}`,
  );
});

test('a reference of more than 1000 characters is refused', async () => {
  await expectRefusal(
    ofClusterImage({ ref: 'x'.repeat(1001) }),
    'spec.source.image.ref: Too long: may not be more than 1000 bytes',
  );
});

test.each([
  `docker.io/test-image@sha256:${hex}`,
  'docker.io/foo/bar:v1.0.0',
  'my-subdomain.docker.io:8080/foo/bar:latest',
  'my-subdomain.docker.io:8080/foo/bar:latest-',
  `docker.io/foo/bar:v1@sha256:${hex}`,
])('a ClusterCatalog of image %s is accepted', async (ref) => {
  await expectAcceptance(ofClusterImage({ ref }));
});

test('the API server sets priority and availability of a ClusterCatalog', async () => {
  const object = aClusterCatalog(source());
  expect((await judge(plane.kubeconfig, object)).admitted).toMatchObject({
    spec: { priority: 0, availabilityMode: 'Available' },
  });
});

test.each<[what: string, status: object, text: string]>([
  [
    'a source by tag',
    { resolvedSource: { type: 'Image', image: { ref: 'docker.io/foo/bar:latest' } } },
    'status.resolvedSource.image.ref: Invalid value: "docker.io/foo/bar:latest": must end with a digest',
  ],
  [
    'a source without image',
    { resolvedSource: { type: 'Image' } },
    'status.resolvedSource.image: Required value',
  ],
  [
    'a URL that is none',
    { urls: { base: 'noneAtAll' } },
    'status.urls.base: Invalid value: "noneAtAll": must be a valid URL',
  ],
  [
    'a URL of another scheme',
    { urls: { base: 'file://somefilepath' } },
    'status.urls.base: Invalid value: "file://somefilepath": scheme must be either http or https',
  ],
])('a ClusterCatalog whose status has %s is refused', async (_what, status, text) => {
  await kubectl.must(['apply', '-f', '-'], JSON.stringify(aClusterCatalog(source())));
  const { code, stderr } = await kubectl.run([
    'patch',
    'clustercatalog',
    'catalog-kinds',
    '--subresource=status',
    '--type=merge',
    `--patch=${JSON.stringify({ status })}`,
  ]);
  expect(stderr).toContain(text);
  expect(code).not.toBe(0);
});
