"""English word lists for parsing questions: stop words, vague words, irregular forms, related words."""

_STOP_WORDS = """
    a about above after again against aint all also am an and any are arent as at be because been before being
    below between both but by can cant could couldnt d did didnt do does doesnt doing don dont down during each
    else few for from further get gets getting gonna got had has hasnt have havent having he hello her here hers
    herself hes hey hi him himself his how i if im in into is isnt it its itself ive just kinda let lets ll m
    may me might more most must my myself no nor not now o of off oh ok okay on once only or other ought our
    ours ourselves out over own re s same shall she shes should shouldnt so some such t than that the their
    theirs them themselves then there these they theyre this those through to too under until up us ve very
    wanna was wasnt we were werent weve what when where whether which while who whom whose why will with wont
    would wouldnt y yeah yes you your youre yours yourself yourselves youve
"""

_VAGUE = """
    according across ago anyone anything ask asked based chat conversation conversations current currently day
    days describe described different discuss discussed discussion earlier earliest ever first give help kind
    last latest likely list long many mention mentioned month months much name often order past please previous
    previously provide recent recently remind said say says someone something sort summarize summary talk talked
    tell thing things throughout time times today told total type various way ways week weeks year years
"""

_FORMS = """
    begin began begun | break broke broken | bring brought | build built | buy bought | catch caught | choose
    chose chosen | come came | deal dealt | draw drew drawn | dream dreamt | drink drank drunk | drive drove
    driven | eat ate eaten | fall fell fallen | feed fed | feel felt | fight fought | find found | fly flew
    flown | forget forgot forgotten | forgive forgave forgiven | freeze froze frozen | give gave given | go went
    gone | grow grew grown | hang hung | hear heard | hide hid hidden | hold held | keep kept | know knew known
    | lay laid | lead led | leave left | lend lent | lose lost | make made | mean meant | meet met | pay paid |
    ride rode ridden | ring rang rung | rise rose risen | run ran | say said | see saw seen | sell sold | send
    sent | shake shook shaken | shoot shot | show shown | shrink shrank | sing sang sung | sink sank | sit sat |
    sleep slept | speak spoke spoken | spend spent | stand stood | steal stole stolen | stick stuck | strike
    struck | swear swore sworn | swim swam swum | take took taken | teach taught | tear tore torn | tell told |
    think thought | throw threw thrown | understand understood | wake woke woken | wear wore worn | win won |
    write wrote written | bite bit bitten | blow blew blown | bend bent | become became | child children | man
    men | woman women | person people | foot feet | tooth teeth | mouse mice | wife wives | life lives | knife
    knives | leaf leaves | half halves | shelf shelves | good better best | bad worse worst | die died dying |
    lie lying lied | tie tying tied | marry married marries | study studied studies | photo photos photograph
    photographs | mom mum mother mommy moms mothers | dad father daddy dads fathers | grandma grandmother |
    grandpa grandfather | kid kids | bike bicycle bikes bicycles | tv television | doctor dr doctors | movie
    film movies films | colour color | favourite favorite | fridge refrigerator | phone telephone cellphone |
    app application | ad advertisement | exam examination | gym gymnasium | vet veterinarian | prof professor |
    uni university | pic pics picture pictures | allergy allergic | anger angry | anxiety anxious | asthma
    asthmatic | belief believe | death dead | diabetes diabetic | expiry expire | health healthy | hunger hungry
    | injury injure | medicine medication | pregnancy pregnant | surgery surgical
"""

_RELATED = """
    advice suggest recommend tip | age old birthday | airline flight fly | angry mad upset | animal pet |
    appliance kitchen oven | art paint draw | attend join participate go | award prize win | beach ocean sea |
    begin start | bird fish animal | birthday born birth | book read novel author | born birth birthday |
    boyfriend partner date | breakfast morning eat | build make create | buy purchase order acquire | car
    vehicle drive | career job work | cat kitten | change switch update | charity volunteer donate fundraise |
    child kid son daughter | city town | class course lesson | clothes dress shirt | college university school
    degree | competition contest tournament | complete finish | computer laptop pc | cook bake recipe dish |
    cost price pay spend | country nation | course class | create make build | dance dancer | death die pass
    lose | device gadget | die death pass lose | doctor physician dermatologist dentist specialist | dog puppy
    pup | dream goal hope | enjoy love like fun | event party festival concert | exercise workout gym run |
    favorite love like prefer | fear afraid scare | finish complete end | fly flight airline | food eat meal
    dish cuisine | friend buddy | furniture table chair sofa couch desk | game play | garden plant flower | gift
    present give | girlfriend partner date | goal aim hope | happy glad excite | health medical doctor | help
    support assist | hike trail mountain | hobby enjoy pastime passion | home house apartment | hotel stay
    airbnb | house home apartment | hurt injure pain | husband wife spouse | illness sick disease | image
    picture photo | injury hurt injure pain | instrument guitar piano violin drum | issue problem | job work
    career | join participate attend | kid child son daughter | language speak | learn study teach | like love
    enjoy favorite | live reside home | lose loss | love enjoy like | make create build | marry wedding marriage
    engage | meal dinner lunch cook | meet met introduce | money dollar cost price | move relocate | movie watch
    | museum exhibit gallery | music song band album concert | nature outdoor hike park | old age birthday |
    paint painting art | parent mom dad | participate join attend | partner husband wife girlfriend boyfriend |
    pay cost spend | pet dog cat puppy kitten | phone iphone | photo picture image camera | picture photo image
    | plan going intend | plant garden flower | play game | prefer favorite like | present gift | price cost pay
    | problem issue trouble | read book novel | recommend suggest advice | religion church faith god |
    restaurant eat dinner | sad upset grief | school college university class | sell sale | sibling brother
    sister | sick ill flu cold | sing singer song | snow winter | song music sing | spend pay cost | sport team
    game soccer basketball | start begin | stress anxious overwhelm | study learn school degree | suggest
    recommend advice | support help | teach teacher lesson | travel trip visit flight | trip travel vacation
    journey visit | university college school degree | vacation trip travel holiday | vehicle car truck | visit
    trip go | volunteer charity donate | want hope wish plan | watch movie show series | weather rain snow sunny
    | wedding marry bride | wife husband spouse | win award prize | work job career | workout exercise gym |
    worry anxious stress
"""

STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that say nothing about the topic of a question."""

VAGUE = frozenset(_VAGUE.split())
"""Words that describe the kind of answer rather than its topic."""

FORMS: tuple[tuple[str, ...], ...] = tuple(tuple(group.split()) for group in _FORMS.split("|"))
"""Forms of one word that a stemmer does not reduce to the same stem."""

RELATED: tuple[tuple[str, ...], ...] = tuple(tuple(group.split()) for group in _RELATED.split("|"))
"""A word, and words that answers to it often use instead."""
