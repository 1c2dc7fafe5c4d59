import { ruleFor } from '../../../../core/registry/configuration/pull-places.ts';
import { parseRegistriesConf } from '../../../../core/registry/configuration/registries-conf.ts';
import { parseImageReference } from '../../../../core/registry/index.ts';
import { type FuzzTarget, textOf } from '../../fuzz-target.ts';

const references = ['nginx', 'quay.io/a/b:v1', 'registry.example.com:5000/a'].map(
  parseImageReference,
);

/** containers-registries.conf(5): TOML. */
export const registriesConf: FuzzTarget = {
  name: 'registries-conf',
  seeds: [
    'unqualified-search-registries = ["docker.io"]\n[[registry]]\nprefix = "*.example.com"\nlocation = "mirror.example.org/x"\ninsecure = true\n[[registry.mirror]]\nlocation = "localhost:5000"\npull-from-mirror = "digest-only"\n',
    '[[registry]]\nlocation = "quay.io"\nblocked = false\nmirror-by-digest-only = true\nmirror = [{location = "a.b/c"}, {location = "d"}]\n',
  ],
  words: [
    '[[registry]]\n',
    '[registry]\n',
    '[[registry.mirror]]\n',
    'prefix = ""\n',
    '"""',
    "'''",
    'inf',
    '1979-05-27',
    '= {}',
    '= [1]',
  ].concat(['__proto__ = 1\n', 'a.b.c = 1\n', '\\u0041', '*.', 'location = "https://x"\n']),
  refusals: [Error],
  read(input) {
    const { registries } = parseRegistriesConf(textOf(input));
    for (const reference of references) ruleFor({ registries }, reference);
  },
};
