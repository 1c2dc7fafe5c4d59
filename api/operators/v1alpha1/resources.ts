export const operatorResource = {
  group: 'operators.operatorframework.io',
  version: 'v1alpha1',
  namespaced: false,
  kind: 'Operator',
  plural: 'operators',
} as const;
