type Properties = readonly { readonly type: string; readonly value: unknown }[];

/** Blobs of a package with bundles of versions 1.0.0, 1.1.0, … in channel stable. */
export function packageBlobs(
  name: string,
  count = 1,
  properties: Properties = [],
): readonly object[] {
  const versions = Array.from({ length: count }, (_, index) => `1.${index}.0`);
  const entries = versions.map((version, index) => ({
    name: `${name}.v${version}`,
    ...(index === 0 ? {} : { replaces: `${name}.v${versions[index - 1]}` }),
  }));
  return [
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', name: 'stable', package: name, entries },
    ...versions.map((version) => ({
      schema: 'olm.bundle',
      name: `${name}.v${version}`,
      package: name,
      image: `example.com/${name}:${version}`,
      properties: [{ type: 'olm.package', value: { packageName: name, version } }, ...properties],
    })),
  ];
}

export function rule(text: string) {
  return { type: 'olm.constraint', value: { failureMessage: 'no', cel: { rule: text } } };
}

/** A thousand rules over 40 properties, of which each takes all of its own steps. */
export function rulesWithoutEnd(): Properties {
  const nested =
    'properties.exists(a, properties.exists(b, properties.exists(c, a.type + b.type == c.type)))';
  return [
    ...Array.from({ length: 40 }, (_, index) => ({ type: `t${index}`, value: index })),
    ...Array.from({ length: 1000 }, (_, index) => rule(`${nested} || ${index} == -1`)),
  ];
}

/** Packages `<name>` and `<name>-1` …, whose bundles require one another, and no two fit together. */
export function webOfRequirements(name: string, size = 14): readonly object[] {
  return Array.from({ length: size }, (_, number) =>
    packageBlobs(
      number === 0 ? name : `${name}-${number}`,
      size - 1,
      Array.from({ length: size - 1 }, (_unused, other) => ({
        type: 'olm.package.required',
        value: {
          packageName: `${name}-${other + 1}`,
          versionRange: `!=1.${number}.0 !=1.${other}.0`,
        },
      })),
    ),
  ).flat();
}
