import test from 'node:test';
import { describeProvisioner } from 'rukpak-ts/testing';
import kustomize from '../src/class.ts';
import { refused } from './refused.ts';

const settings = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n';
const base = {
  'base/kustomization.yaml': 'resources: [settings.yaml]\n',
  'base/settings.yaml': settings,
  'prod/kustomization.yaml': 'resources: [../base]\nnamePrefix: prod-\n',
};

describeProvisioner(
  kustomize,
  {
    bundles: [
      { name: 'a base and an overlay', files: base, stored: base },
      { name: 'a kustomization at the root', files: { Kustomization: 'namespace: a\n' } },
    ],
    deployments: [
      {
        name: 'the overlay that spec.config.path names',
        files: base,
        config: { path: 'prod' },
        objects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'prod-settings' } }],
      },
      {
        name: 'the root',
        files: { 'kustomization.yaml': 'resources: [a.yaml]\n', 'a.yaml': settings },
        objects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } }],
      },
    ],
    refused,
  },
  { test },
);
