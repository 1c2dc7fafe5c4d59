import {
  ageColumn,
  customResourceDefinition,
  type PrinterColumn,
  readyColumns,
} from '../crd/custom-resource-definition.ts';
import { exactlyOneOf, type StructuralSchema, structuralSchema } from '../crd/structural-schema.ts';
import type { KubernetesObject } from '../meta.ts';
import { bundleSpecSchema, bundleStatusSchema } from './bundle.ts';
import { bundleDeploymentSpecSchema, bundleDeploymentStatusSchema } from './bundle-deployment.ts';

/** The CustomResourceDefinition of Bundle. */
export function bundleCRD(): KubernetesObject {
  return customResourceDefinition({
    ...groupVersion,
    names: { kind: 'Bundle', listKind: 'BundleList', plural: 'bundles', singular: 'bundle' },
    description:
      'Bundle is immutable content of one source, fetched, checked and stored by its provisioner class.',
    nameMaxLength: 52,
    spec: bundleSchemaWithUnions(),
    status: bundleStatusSchema,
    printerColumns: [
      { name: 'Type', type: 'string', jsonPath: '.spec.source.type' },
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      ageColumn,
      provisionerColumn,
      {
        name: 'Resolved Source',
        type: 'string',
        jsonPath: '.status.resolvedSource',
        priority: 1,
      },
      ...readyColumns,
    ],
  });
}

/** The CustomResourceDefinition of BundleDeployment. */
export function bundleDeploymentCRD(): KubernetesObject {
  return customResourceDefinition({
    ...groupVersion,
    names: {
      kind: 'BundleDeployment',
      listKind: 'BundleDeploymentList',
      plural: 'bundledeployments',
      shortNames: ['bd', 'bds'],
      singular: 'bundledeployment',
    },
    description:
      'BundleDeployment keeps the content of a Bundle, made from its template, applied to the cluster.',
    nameMaxLength: 45,
    // KEP-3659: objects of the kind may be the parents of ApplySets.
    labels: { 'applyset.kubernetes.io/is-parent-type': 'true' },
    spec: structuralSchema(bundleDeploymentSpecSchema),
    status: bundleDeploymentStatusSchema,
    printerColumns: [
      { name: 'Active Bundle', type: 'string', jsonPath: '.status.activeBundle' },
      {
        name: 'Install State',
        type: 'string',
        jsonPath: '.status.conditions[?(.type=="Installed")].reason',
      },
      ageColumn,
      provisionerColumn,
      ...readyColumns,
    ],
  });
}

const groupVersion = { group: 'core.rukpak.io', version: 'v1alpha1' };

const provisionerColumn: PrinterColumn = {
  name: 'Provisioner',
  type: 'string',
  jsonPath: '.spec.provisionerClassName',
  priority: 1,
};

/**
 * The unions apply to Bundles only: a template is accepted, and fails when its Bundle is created.
 */
function bundleSchemaWithUnions(): StructuralSchema {
  const spec = structuralSchema(bundleSpecSchema);
  const fields = ['git', 'image', 'configMaps', 'upload', 'http', 'parameters'];
  const source = exactlyOneOf(spec, ['source'], fields);
  return exactlyOneOf(source, ['source', 'git', 'ref'], ['branch', 'commit', 'tag']);
}
