import { testOfClass } from '../../test/helpers/test-of-class.ts';
import { describeProvisioner } from '../../testing/index.ts';
import plain from './index.ts';

const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n';
const configMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: colours, namespace: shop}\n';

describeProvisioner(
  plain,
  {
    bundles: [
      {
        name: 'files outside of manifests',
        files: { 'manifests/a.yaml': namespace, 'README.md': 'not: [yaml' },
        stored: { 'manifests/a.yaml': namespace, 'README.md': 'not: [yaml' },
      },
    ],
    deployments: [
      {
        name: 'the same object twice',
        files: {
          'manifests/b.yaml': `${configMap}---\n${configMap}`,
          'manifests/a.yaml': namespace,
        },
        objects: [
          { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'colours', namespace: 'shop' } },
        ],
      },
    ],
    refused: [
      {
        name: 'no manifests',
        files: { 'a.yaml': namespace },
        message: 'get objects from bundle manifests: readdir manifests: file does not exist',
      },
      {
        name: 'no object',
        files: { 'manifests/a.yaml': '# nothing\n' },
        message:
          'invalid bundle: found zero objects: plain+v0 bundles are required to contain at least one object',
      },
    ],
  },
  { test: testOfClass, module: new URL('./index.ts', import.meta.url) },
);
