
static const char *const usuba_names[@BACKENDS@] = {@NAMES@};

static int usuba_supported(size_t backend)
{
    switch (backend) {
@SUPPORTED@    default: return 0;
    }
}

/* One more than the number of the backend in use; 0 before the first call. The only state. */
static int usuba_choice = 0;

static void usuba_choose(size_t backend)
{
#if defined(__GNUC__)
    __atomic_store_n(&usuba_choice, (int)backend + 1, __ATOMIC_RELAXED);
#else
    usuba_choice = (int)backend + 1;
#endif
}

static size_t usuba_best(void)
{
    size_t backend = @BACKENDS@;
    while (--backend && !usuba_supported(backend)) {
    }
    return backend;
}

@LOCAL@size_t usuba_chosen(void)
{
#if defined(__GNUC__)
    int choice = __atomic_load_n(&usuba_choice, __ATOMIC_RELAXED);
#else
    int choice = usuba_choice;
#endif
    /* Threads that come first at the same time all find the same. */
    if (!choice) {
        size_t backend = usuba_best();
        usuba_choose(backend);
        return backend;
    }
    return (size_t)choice - 1;
}

const char *@COMMON@backend(void)
{
    return usuba_names[usuba_chosen()];
}

const char *@COMMON@backends(size_t index)
{
    size_t backend;
    for (backend = 0; backend < @BACKENDS@; backend++)
        if (usuba_supported(backend) && !index--) return usuba_names[backend];
    return NULL;
}

static int usuba_is_name(const char *name, const char *other)
{
    while (*name && *name == *other) name++, other++;
    return *name == *other;
}

int @COMMON@force_backend(const char *name)
{
    size_t backend;
    if (!name) {
        usuba_choose(usuba_best());
        return USUBA_OK;
    }
    for (backend = 0; backend < @BACKENDS@; backend++) {
        if (usuba_is_name(name, usuba_names[backend]) && usuba_supported(backend)) {
            usuba_choose(backend);
            return USUBA_OK;
        }
    }
    return USUBA_ERROR_BACKEND;
}
