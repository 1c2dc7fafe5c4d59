import {
  ageColumn,
  customResourceDefinition,
  installerLabel,
  readyColumns,
} from '../../crd/custom-resource-definition.ts';
import { structuralSchema } from '../../crd/structural-schema.ts';
import type { KubernetesObject } from '../../meta.ts';
import { clusterCatalogSpecSchema, clusterCatalogStatusSchema } from './cluster-catalog.ts';
import { clusterExtensionSpecSchema } from './cluster-extension.ts';
import { clusterExtensionStatusSchema } from './cluster-extension-status.ts';

const groupVersion = { group: 'olm.operatorframework.io', version: 'v1' };

/** The CustomResourceDefinition of ClusterCatalog. */
export function clusterCatalogCRD(): KubernetesObject {
  return customResourceDefinition({
    ...groupVersion,
    names: {
      kind: 'ClusterCatalog',
      listKind: 'ClusterCatalogList',
      plural: 'clustercatalogs',
      singular: 'clustercatalog',
    },
    labels: { [installerLabel.key]: installerLabel.value },
    description:
      'ClusterCatalog is a file-based catalog of an image, fetched and served to the cluster.',
    spec: structuralSchema(clusterCatalogSpecSchema),
    status: clusterCatalogStatusSchema,
    printerColumns: [
      { name: 'LastUnpacked', type: 'date', jsonPath: '.status.lastUnpacked' },
      column('Serving', conditionStatus('Serving')),
      ageColumn,
      { ...column('Image', '.spec.source.image.ref'), priority: 1 },
      { name: 'Priority', type: 'integer', jsonPath: '.spec.priority', priority: 1 },
      { name: 'Packages', type: 'integer', jsonPath: '.status.packages', priority: 1 },
      ...readyColumns,
    ],
  });
}

/** The CustomResourceDefinition of ClusterExtension. */
export function clusterExtensionCRD(): KubernetesObject {
  return customResourceDefinition({
    ...groupVersion,
    names: {
      kind: 'ClusterExtension',
      listKind: 'ClusterExtensionList',
      plural: 'clusterextensions',
      singular: 'clusterextension',
    },
    labels: { [installerLabel.key]: installerLabel.value },
    description:
      'ClusterExtension keeps a package of the catalogs installed: it selects a bundle and makes a BundleDeployment of it.',
    spec: structuralSchema(clusterExtensionSpecSchema),
    isSpecOptional: true,
    status: clusterExtensionStatusSchema,
    printerColumns: [
      column('Installed Bundle', '.status.install.bundle.name'),
      column('Version', '.status.install.bundle.version'),
      column('Installed', conditionStatus('Installed')),
      column('Progressing', conditionStatus('Progressing')),
      ageColumn,
      { ...column('Package', '.spec.source.catalog.packageName'), priority: 1 },
      column('Available', '.status.available.version'),
      ...readyColumns,
    ],
  });
}

function column(name: string, jsonPath: string) {
  return { name, type: 'string', jsonPath };
}

function conditionStatus(type: string): string {
  return `.status.conditions[?(@.type=="${type}")].status`;
}
