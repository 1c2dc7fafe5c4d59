import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseObjects } from '../../../core/sdk.ts';
import { realBundleDirectory, realBundlesArePresent } from '../../../test/helpers/real-bundles.ts';
import type { OlmBundle } from '../../blobs/index.ts';
import { imagesOfBlob, imagesOfManifests, imagesOfPods } from './bundle-images.ts';

const version = {
  kind: 'ClusterServiceVersion',
  spec: {
    relatedImages: [{ name: 'db', image: 'quay.example/db:v1' }, { name: 'none' }],
    install: {
      spec: {
        deployments: [
          {
            spec: {
              template: {
                spec: {
                  initContainers: [{ image: 'quay.example/init:v1' }],
                  containers: [
                    {
                      image: 'quay.example/operator:v1',
                      env: [
                        { name: 'RELATED_IMAGE_PROXY', value: 'quay.example/proxy:v1' },
                        { name: 'RELATED_IMAGE_EMPTY', value: '' },
                        { name: 'OTHER', value: 'quay.example/other:v1' },
                        { name: 'RELATED_IMAGE_FROM', valueFrom: {} },
                      ],
                    },
                  ],
                },
              },
            },
          },
        ],
      },
    },
  },
};
const named = [
  'quay.example/db:v1',
  'quay.example/init:v1',
  'quay.example/operator:v1',
  'quay.example/proxy:v1',
];

test('a ClusterServiceVersion names images in four places', () => {
  expect(imagesOfManifests([version, { kind: 'Service' }, version])).toEqual(named);
});

test('pods name the images of their volumes too', () => {
  const volumes = [
    { name: 'model', image: { reference: 'quay.example/model:v1', pullPolicy: 'IfNotPresent' } },
    { name: 'other', emptyDir: {} },
  ];
  const pod = { containers: [{ name: 'a', image: 'quay.example/a:v1' }], volumes };
  const deployment = { kind: 'Deployment', spec: { template: { spec: pod } } };
  const images = ['quay.example/a:v1', 'quay.example/model:v1'];
  expect(imagesOfPods([deployment])).toEqual(images);
  const install = { spec: { deployments: [{ name: 'a', spec: deployment.spec }] } };
  expect(imagesOfManifests([{ kind: 'ClusterServiceVersion', spec: { install } }])).toEqual(images);
});

describe('a blob of a catalog', () => {
  const bundle: OlmBundle = {
    schema: 'olm.bundle',
    name: 'a.v1',
    package: 'a',
    image: 'quay.example/bundle:v1',
    relatedImages: [
      { name: '', image: 'quay.example/bundle:v1' },
      { name: 'db', image: 'quay.example/db:v1' },
      { name: 'nothing', image: '' },
    ],
    properties: [],
  };

  test('names its own image and those that are related', () => {
    expect(imagesOfBlob(bundle)).toEqual(['quay.example/bundle:v1', 'quay.example/db:v1']);
  });

  test('and those of manifests in it, however odd others are', () => {
    const data = Buffer.from(JSON.stringify(version)).toString('base64');
    const properties = [
      { type: 'olm.bundle.object', value: { data: 'e30=!' } },
      { type: 'olm.bundle.object', value: 'no object' },
      { type: 'olm.bundle.object', value: { data } },
    ];
    expect(new Set(imagesOfBlob({ ...bundle, properties }))).toEqual(
      new Set(['quay.example/bundle:v1', ...named]),
    );
  });
});

test.skipIf(!realBundlesArePresent())('a real operator names its images by variables', () => {
  const folder = `${realBundleDirectory('infinispan/2.2.1')}/manifests`;
  const objects = readdirSync(folder).flatMap((file) =>
    parseObjects(readFileSync(`${folder}/${file}`)),
  );
  expect(imagesOfManifests(objects).length).toBeGreaterThan(0);
});
